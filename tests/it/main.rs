//! One test binary.

mod golden_meters;
mod meter_laws;
mod python_meters;
mod sizes;
