//! Programs as players, and our players behind their protocols.
