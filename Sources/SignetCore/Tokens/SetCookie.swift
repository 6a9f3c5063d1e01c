#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// One `Set-Cookie` header, parsed as RFC 6265 section 5.2 specifies.
///
/// Unknown attributes are ignored.
package struct SetCookie: Sendable, Hashable {
    package var name = ""
    package var value = ""
    package var expires: Date?
    package var maxAge: Int64?
    /// The domain in lower case, without the leading dot; empty when the header has none.
    package var domain = ""
    /// The path; nil when the header has no path that begins with a slash.
    package var path: String?
    package var isSecure = false
    package var isHTTPOnly = false

    /// Parses a header.
    ///
    /// Returns nil when it sets no cookie.
    package init?(_ header: String) {
        // A control character could end the `Cookie` header that sends the cookie back.
        guard header.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else { return nil }
        let parts = header.split(separator: ";", omittingEmptySubsequences: false)
        let pair = parts[0].split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard pair.count == 2 else { return nil }
        name = pair[0].trimmingWhitespace()
        value = pair[1].trimmingWhitespace()
        guard !name.isEmpty else { return nil }
        for part in parts.dropFirst() {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            take(attribute: pair[0].trimmingWhitespace().lowercased(), value: pair.count > 1 ? pair[1].trimmingWhitespace() : "")
        }
    }

    private mutating func take(attribute: String, value: String) {
        switch attribute {
        case "expires": if let date = CookieDate.date(from: value) { expires = date }
        case "max-age": if let seconds = Self.seconds(value) { maxAge = seconds }
        case "domain": if !value.isEmpty { domain = (value.hasPrefix(".") ? String(value.dropFirst()) : value).lowercased() }
        case "path": path = value.hasPrefix("/") ? value : nil
        case "secure": isSecure = true
        case "httponly": isHTTPOnly = true
        default: break
        }
    }

    /// Parses `Max-Age` (section 5.2.2): digits with an optional minus sign.
    ///
    /// A number that does not fit 64 bits becomes the maximum, or -1 if it is negative.
    private static func seconds(_ text: String) -> Int64? {
        let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(text) ?? (text.hasPrefix("-") ? -1 : .max)
    }
}

/// The date of a cookie (RFC 6265 section 5.1.1).
///
/// The algorithm accepts many formats.
package enum CookieDate {
    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    /// Parses a date.
    ///
    /// Returns nil when the text contains no valid date.
    package static func date(from text: String) -> Date? {
        var time: (hour: Int, minute: Int, second: Int)?
        var (day, month, year): (Int?, Int?, Int?)
        for token in text.utf8.split(whereSeparator: isDelimiter) {
            let token = Array(token)
            if time == nil, let found = self.time(token) {
                time = found
            } else if day == nil, let found = number(token, digits: 1...2) {
                day = found
            } else if month == nil, let found = self.month(token) {
                month = found
            } else if year == nil, let found = number(token, digits: 2...4) {
                year = found < 70 ? found + 2000 : found < 100 ? found + 1900 : found
            }
        }
        guard let time, let day, let month, let year, (1...31).contains(day), year >= 1601, time.hour < 24, time.minute < 60,
            time.second < 60, day <= length(of: month, year)
        else { return nil }
        let seconds = CalendarDays.since1970(year, month, day) * 86_400 + time.hour * 3600 + time.minute * 60 + time.second
        return Date(timeIntervalSince1970: Double(seconds))
    }

    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    /// Returns the number at the beginning of a token; nil when the count of its digits is not in `digits`.
    private static func number(_ token: [UInt8], digits: ClosedRange<Int>) -> Int? {
        let number = token.prefix { (0x30...0x39).contains($0) }
        return digits.contains(number.count) ? Int(String(decoding: number, as: UTF8.self)) : nil
    }

    private static func time(_ token: [UInt8]) -> (hour: Int, minute: Int, second: Int)? {
        let parts = token.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false).map(Array.init)
        guard parts.count == 3, parts[0].count <= 2, parts[1].count <= 2, let hour = number(parts[0], digits: 1...2),
            let minute = number(parts[1], digits: 1...2), let second = number(parts[2], digits: 1...2)
        else { return nil }
        return (hour, minute, second)
    }

    private static func month(_ token: [UInt8]) -> Int? {
        months.firstIndex(of: String(decoding: token.prefix(3), as: UTF8.self).lowercased()).map { $0 + 1 }
    }

    private static func length(of month: Int, _ year: Int) -> Int {
        switch month {
        case 2: year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400)) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
