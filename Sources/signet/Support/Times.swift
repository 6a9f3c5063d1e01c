#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Date {
    /// The date in the format of RFC 3339, in UTC.
    var text: String { formatted(.iso8601) }
}
