import Foundation

extension Date {
    /// The date in the format of RFC 3339, in UTC.
    var text: String { formatted(.iso8601) }
}
