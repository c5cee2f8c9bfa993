//! Points in time for people.
//!
//! Nothing here reads a clock.

use horngate_gate::Millis;

const SECOND: u64 = 1000;
const DAY: u64 = 86_400;

/// The point in time in UTC, to the second.
pub(crate) fn utc(at: Millis) -> String {
    let seconds = at / SECOND;
    let (year, month, day) = date(seconds / DAY);
    let time = seconds % DAY;
    format!(
        "{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02} UTC",
        time / 3600,
        time / 60 % 60,
        time % 60
    )
}

/// How long it is from one point to a later one, rounded down; nothing if it is not later.
pub(crate) fn span(from: Millis, to: Millis) -> String {
    let seconds = to.saturating_sub(from) / SECOND;
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds}s"),
        (0, minutes, seconds) => format!("{minutes}m{seconds:02}s"),
        (hours, minutes, _) if hours < 48 => format!("{hours}h{minutes:02}m"),
        (hours, ..) => format!("{}d", hours / 24),
    }
}

/// The date of a day counted from 1970-01-01, by eras of 400 years that begin on 1 March.
fn date(day: u64) -> (u64, u64, u64) {
    let day = day + 719_468;
    let (era, of_era) = (day / 146_097, day % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = year + era * 400 + u64::from(month <= 2);
    (year, month, of_year - (153 * shifted + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_that_are_known() {
        for (seconds, text) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (951_782_399, "2000-02-28 23:59:59 UTC"),
            (951_782_400, "2000-02-29 00:00:00 UTC"),
            (1_767_225_600, "2026-01-01 00:00:00 UTC"),
            (4_107_542_400, "2100-03-01 00:00:00 UTC"),
        ] {
            assert_eq!(utc(seconds * 1000 + 999), text);
        }
        // No number of milliseconds is too large.
        assert!(utc(u64::MAX).ends_with(" UTC"));
    }

    #[test]
    fn spans() {
        let spans = [0, 59, 60, 3599, 3600, 172_799, 172_800].map(|s| span(5, s * 1000 + 5));
        assert_eq!(
            spans,
            ["0s", "59s", "1m00s", "59m59s", "1h00m", "47h59m", "2d"]
        );
        assert_eq!(span(7, 5), "0s");
    }
}
