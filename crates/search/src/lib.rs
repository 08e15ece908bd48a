//! Players of Surakarta: MCTS as a resumable state machine, alpha-beta, rollouts, and the strings that name them.
