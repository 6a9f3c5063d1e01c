import SignetCore

/// A realm of a server, in any notation that users and SDKs write.
///
/// `alpha`, `/alpha`, `root/alpha`, `root/realms/alpha` and `realms/root/realms/alpha` are the same realm. `""`, `/` and `root`
/// are the top-level realm. Names are case-sensitive. The description has AM's notation: `/`, `/alpha`, `/alpha/beta`.
public struct Realm: Sendable, Hashable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The names on the path from the top-level realm, which itself has no name.
    public let names: [String]

    /// The top-level realm.
    public static let root = Realm("")

    /// Creates a realm from any notation.
    public init(_ text: String) {
        var parts = text.split(separator: "/").map { $0.trimmingWhitespace() }.filter { !$0.isEmpty }
        if Self.isMarked(parts[...]) { parts = Self.unmarked(parts[...]) }
        if parts.first?.lowercased() == "root" { parts.removeFirst() }
        names = Self.isMarked(parts[...]) ? Self.unmarked(parts[...]) : parts
    }

    /// Creates a realm from any notation.
    public init(stringLiteral text: String) {
        self.init(text)
    }

    /// Returns true when `realms` precedes every name, as in the path of an address.
    ///
    /// A realm that is itself named `realms` must be written `root/realms`.
    private static func isMarked(_ parts: ArraySlice<String>) -> Bool {
        !parts.isEmpty && parts.count.isMultiple(of: 2)
            && stride(from: parts.startIndex, to: parts.endIndex, by: 2).allSatisfy { parts[$0] == "realms" }
    }

    private static func unmarked(_ parts: ArraySlice<String>) -> [String] {
        stride(from: parts.startIndex + 1, to: parts.endIndex, by: 2).map { parts[$0] }
    }

    /// The names, each with a leading slash; `/` for the top-level realm.
    public var description: String { names.isEmpty ? "/" : names.map { "/\($0)" }.joined() }

    /// Returns the part of an address that names the realm, in one of the forms that servers accept.
    ///
    /// It has no slash at either end, and may be empty.
    public func path(_ form: PathForm = .full) -> String {
        let names = names.map { $0.percentEncoded() }
        return switch form {
        case .full: (["root"] + names).map { "realms/\($0)" }.joined(separator: "/")
        case .alias: (names.isEmpty ? ["root"] : names).map { "realms/\($0)" }.joined(separator: "/")
        case .legacy: names.joined(separator: "/")
        }
    }

    /// The form of a realm in an address (protocol/journey.md section 1.2).
    public enum PathForm: String, Sendable, CaseIterable {
        /// `realms/root/realms/alpha`: The form that all servers accept, for any depth. The default.
        case full
        /// `realms/alpha`: The server knows the first name without its parent, as in Advanced Identity Cloud.
        case alias
        /// `alpha`: The older form without `realms`, which discovery documents of Advanced Identity Cloud still contain.
        case legacy
    }
}
