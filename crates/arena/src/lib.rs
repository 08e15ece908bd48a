//! Matches between players, Bradley-Terry ratings and their tables.
