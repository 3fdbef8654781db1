//! What holds for all lines, however they come.
