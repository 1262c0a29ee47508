//! Meters, sizes and calibration.

pub mod calibration;
pub mod golden_meters;
pub mod message_sizes;
pub mod meter_laws;
pub mod python_meters;
pub mod units;
