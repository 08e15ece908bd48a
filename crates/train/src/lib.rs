//! Training through tch: model, losses, AdamW, checkpoints, metrics.
