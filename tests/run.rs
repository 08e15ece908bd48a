//! The loop. Written below.
