//! Functions with known minima.
