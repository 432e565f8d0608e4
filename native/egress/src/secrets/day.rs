//! Dates of the Gregorian calendar.

use std::time::{SystemTime, UNIX_EPOCH};

const SECONDS: u64 = 86_400;

/// Days since 1970 began.
pub fn today() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    since.as_secs() / SECONDS
}

/// Year, month and day, both from 1. Counts from March, so that a leap day is the last one of its year.
pub fn date(days: u64) -> (i32, u8, u8) {
    const DAYS_TO_1970: u64 = 719_468;
    const ERA: u64 = 146_097;
    let days = days + DAYS_TO_1970;
    let (era, of_era) = (days / ERA, days % ERA);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 {
        from_march + 3
    } else {
        from_march - 9
    };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    (year as i32, month as u8, day as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_dates() {
        assert_eq!(date(0), (1970, 1, 1));
        assert_eq!(date(58), (1970, 2, 28));
        assert_eq!(date(11_016), (2000, 2, 29));
        assert_eq!(date(11_017), (2000, 3, 1));
        assert_eq!(date(20_784), (2026, 11, 27));
        assert_eq!(date(47_540), (2100, 2, 28));
        assert_eq!(date(47_541), (2100, 3, 1));
    }
}
