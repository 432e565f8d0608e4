//! Lines as `ls -l` prints them; clients show them as they are.

use rustix::fs::Stat;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::users::names::Names;

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];
const DAY_SECONDS: i64 = 24 * 60 * 60;
/// Times further away are shown with their year in place of the hour.
const HALF_A_YEAR: i64 = 182 * DAY_SECONDS;

#[derive(Default)]
pub struct LongNames(Names);

impl LongNames {
    pub fn of(&mut self, name: &[u8], stat: &Stat) -> Vec<u8> {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| since.as_secs().cast_signed());
        let mut line = format!(
            "{} {:>3} {:<8} {:<8} {:>8} {} ",
            mode_text(stat.st_mode),
            stat.st_nlink,
            self.0.users.name(stat.st_uid),
            self.0.groups.name(stat.st_gid),
            stat.st_size,
            time_text(stat.st_mtime, now),
        )
        .into_bytes();
        line.extend(name);
        line
    }
}

fn mode_text(mode: u32) -> String {
    let kind = match mode & libc::S_IFMT {
        libc::S_IFDIR => 'd',
        libc::S_IFLNK => 'l',
        libc::S_IFCHR => 'c',
        libc::S_IFBLK => 'b',
        libc::S_IFIFO => 'p',
        libc::S_IFSOCK => 's',
        _ => '-',
    };
    let mut text = String::from(kind);
    for (shift, special, letter) in [
        (6, libc::S_ISUID, 's'),
        (3, libc::S_ISGID, 's'),
        (0, libc::S_ISVTX, 't'),
    ] {
        let bits = mode >> shift;
        text.push(if bits & 4 != 0 { 'r' } else { '-' });
        text.push(if bits & 2 != 0 { 'w' } else { '-' });
        text.push(match (mode & special != 0, bits & 1 != 0) {
            (false, false) => '-',
            (false, true) => 'x',
            (true, false) => letter.to_ascii_uppercase(),
            (true, true) => letter,
        });
    }
    text
}

/// Writes the time in UTC, since the client's zone is unknown.
fn time_text(time: i64, now: i64) -> String {
    let (year, month, day) = date(time.div_euclid(DAY_SECONDS));
    let month = MONTHS[month];
    if time > now + 60 * 60 || time.saturating_add(HALF_A_YEAR) < now {
        return format!("{month} {day:>2} {year:>5}");
    }
    let minutes = time.rem_euclid(DAY_SECONDS) / 60;
    format!("{month} {day:>2} {:02}:{:02}", minutes / 60, minutes % 60)
}

/// Year, month from 0 and day from 1 of a day counted from 1970. Years are counted from March here, so that
/// the day that some years have more is the last.
fn date(days: i64) -> (i64, usize, i64) {
    const DAYS_OF_400_YEARS: i64 = 146_097;
    let days = days.saturating_add(719_468);
    let era = days.div_euclid(DAYS_OF_400_YEARS);
    let day_of_era = days.rem_euclid(DAYS_OF_400_YEARS);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12;
    let year = era * 400 + year_of_era + i64::from(month < 2);
    (year, month as usize, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (days, expected) in [
            (0, (1970, 0, 1)),
            (58, (1970, 1, 28)),
            (59, (1970, 2, 1)),
            (11_016, (2000, 1, 29)),
            (19_782, (2024, 1, 29)),
            (20_453, (2025, 11, 31)),
            (-1, (1969, 11, 31)),
        ] {
            assert_eq!(date(days), expected, "{days}");
        }
        for extreme in [i64::MIN, i64::MAX] {
            time_text(extreme, 0);
        }
    }

    #[test]
    fn old_times_have_their_year() {
        let now = 1_700_000_000;
        assert_eq!(time_text(now, now), "Nov 14 22:13");
        assert_eq!(time_text(86_400 * 4, now), "Jan  5  1970");
    }

    #[test]
    fn modes_are_written_as_ls_does() {
        for (mode, expected) in [
            (0o100_644, "-rw-r--r--"),
            (0o40_755, "drwxr-xr-x"),
            (0o104_755, "-rwsr-xr-x"),
            (0o41_777, "drwxrwxrwt"),
            (0o102_644, "-rw-r-Sr--"),
            (0o120_777, "lrwxrwxrwx"),
        ] {
            assert_eq!(mode_text(mode), expected);
        }
    }
}
