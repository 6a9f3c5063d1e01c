#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Date {
    /// The date as RFC 3339 has it, in UTC.
    var text: String { formatted(.iso8601) }
}
