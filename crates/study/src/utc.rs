//! Times as text, UTC: `2026-01-31T12:00:00.250Z`.

use crate::clock::Timestamp;

const DAY: i64 = 86_400_000;

impl Timestamp {
    /// As text: `2026-01-31T12:00:00.250Z`.
    pub fn to_utc(self) -> String {
        let (days, rest) = (self.0.div_euclid(DAY), self.0.rem_euclid(DAY));
        let (year, month, day) = civil(days);
        let (hour, minute, second, milli) =
            (rest / 3_600_000, rest / 60_000 % 60, rest / 1_000 % 60, rest % 1_000);
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
    }

    /// From text: the form of [`Self::to_utc`], where a space may stand for the `T`, the `Z` may be missing, and there may be
    /// any number of digits after the second. `None` if it is no such time.
    pub fn from_utc(text: &str) -> Option<Self> {
        let text = text.trim().trim_end_matches('Z');
        let (date, time) = text.split_once(['T', ' '])?;
        let numbers = |text: &str, separator| -> Option<Vec<i64>> {
            let number = |part: &str| part.parse().ok().filter(|number| *number >= 0);
            text.split(separator).map(number).collect()
        };
        let [year, month, day] = numbers(date, '-')?.try_into().ok()?;
        let (whole, fraction) = time.split_once('.').unwrap_or((time, "0"));
        let [hour, minute, second] = numbers(whole, ':')?.try_into().ok()?;
        let legal = (1..=9_999).contains(&year)
            && (1..=12).contains(&month)
            && (1..=31).contains(&day)
            && hour < 24
            && minute < 60
            && second < 61
            && fraction.bytes().all(|digit| digit.is_ascii_digit());
        let milli: i64 = format!("{fraction:0<3}").get(..3)?.parse().ok()?;
        let seconds = hour * 3_600 + minute * 60 + second;
        legal.then(|| Self(days(year, month, day) * DAY + seconds * 1_000 + milli))
    }
}

/// Days since 1970 to a date of the Gregorian calendar. Years are counted from March, so that a leap day is the last.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

/// The inverse of [`civil`].
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_times() {
        assert_eq!(Timestamp(0).to_utc(), "1970-01-01T00:00:00.000Z");
        assert_eq!(Timestamp(951_827_696_789).to_utc(), "2000-02-29T12:34:56.789Z");
        assert_eq!(
            Timestamp::from_utc("2000-02-29 12:34:56.789123"),
            Some(Timestamp(951_827_696_789))
        );
        assert_eq!(Timestamp::from_utc("2000-02-29T12:34:56Z"), Some(Timestamp(951_827_696_000)));
        for bad in [
            "",
            "2000-13-01 00:00:00",
            "yesterday",
            "2000-01-01",
            "2000-01-01 25:00:00",
            "2000-01-01 00:00:00.x",
        ] {
            assert_eq!(Timestamp::from_utc(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_is_read(time in 0_i64..250_000_000_000_000) {
            prop_assert_eq!(Timestamp::from_utc(&Timestamp(time).to_utc()), Some(Timestamp(time)));
        }
    }
}
