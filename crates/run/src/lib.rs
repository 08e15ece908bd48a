//! Configuration, run directory, the loop of self-play, training and rating.
