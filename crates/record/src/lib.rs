//! Game records, shards, the replay window and exports.
