//! Networks for Surakarta: inputs, shapes, the weights file and native CPU inference.
