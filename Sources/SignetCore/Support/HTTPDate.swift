#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The time in a `Date` header (RFC 9110 section 5.6.7), in the IMF-fixdate form that servers must generate.
package enum HTTPDate {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Parses a date such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    ///
    /// Returns nil for any other form.
    package static func date(from text: String) -> Date? {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 6, parts[0].count == 4, parts[0].hasSuffix(","), parts[5] == "GMT",
            let day = number(parts[1], digits: 2, 1...31), let month = months.firstIndex(of: String(parts[2])),
            let year = number(parts[3], digits: 4, 1970...9999)
        else { return nil }
        let time = parts[4].split(separator: ":", omittingEmptySubsequences: false)
        // The value 60 is a leap second. It becomes the first second of the next minute.
        guard time.count == 3, let hour = number(time[0], digits: 2, 0...23), let minute = number(time[1], digits: 2, 0...59),
            let second = number(time[2], digits: 2, 0...60)
        else { return nil }
        let seconds = CalendarDays.since1970(year, month + 1, day) * 86_400 + hour * 3600 + minute * 60 + second
        return Date(timeIntervalSince1970: Double(seconds))
    }

    /// Returns the header value for a date, in whole seconds.
    ///
    /// A date outside the representable range is clamped to it.
    package static func text(of date: Date) -> String {
        let seconds = Int(min(max(date.timeIntervalSince1970.rounded(.down), 0), latest))
        let (days, time) = seconds.quotientAndRemainder(dividingBy: 86_400)
        let (year, month, day) = CalendarDays.date(days)
        func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : String(number) }
        let clock = [time / 3600, time / 60 % 60, time % 60].map(twoDigits).joined(separator: ":")
        // January 1, 1970 was a Thursday.
        return "\(weekdays[days % 7]), \(twoDigits(day)) \(months[month - 1]) \(year) \(clock) GMT"
    }

    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    /// The last second of the year 9999, in seconds since 1970.
    private static let latest = 253_402_300_799.0

    private static func number(_ text: Substring, digits: Int, _ range: ClosedRange<Int>) -> Int? {
        guard text.utf8.count == digits, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let value = Int(text),
            range.contains(value)
        else { return nil }
        return value
    }
}

/// Conversions between calendar dates and day numbers.
enum CalendarDays {
    /// Returns the number of days since January 1, 1970.
    ///
    /// The calculation begins each year in March, so that a leap day is the last day of its year.
    static func since1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let year = month > 2 ? year : year - 1
        let monthsSinceMarch = (month + 9) % 12
        let daysBefore = year * 365 + year / 4 - year / 100 + year / 400
        // From March or August on, five months have 153 days.
        return daysBefore + (monthsSinceMarch * 153 + 2) / 5 + day - 1 - 719_468
    }

    /// Returns the calendar date that is `days` days after January 1, 1970.
    static func date(_ days: Int) -> (year: Int, month: Int, day: Int) {
        let days = days + 719_468
        let (era, dayOfEra) = (days / 146_097, days % 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthsSinceMarch = (5 * dayOfYear + 2) / 153
        let month = monthsSinceMarch < 10 ? monthsSinceMarch + 3 : monthsSinceMarch - 9
        let year = era * 400 + yearOfEra + (month > 2 ? 0 : 1)
        return (year, month, dayOfYear - (153 * monthsSinceMarch + 2) / 5 + 1)
    }
}
