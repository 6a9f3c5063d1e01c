import SignetCore

/// A realm of a server, however a person or an SDK writes it.
///
/// `alpha`, `/alpha`, `root/alpha`, `root/realms/alpha` and `realms/root/realms/alpha` are one realm; `""`, `/` and `root` are the
/// top one. Upper and lower case are kept. Prints as AM does: `/`, `/alpha`, `/alpha/beta`.
public struct Realm: Sendable, Hashable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The names on the way down from the top realm, which itself has none.
    public let names: [String]

    /// The top realm.
    public static let root = Realm("")

    /// Reads a realm in any of the forms.
    public init(_ text: String) {
        var parts = text.split(separator: "/").map { $0.trimmingWhitespace() }.filter { !$0.isEmpty }
        if Self.isMarked(parts[...]) { parts = Self.unmarked(parts[...]) }
        if parts.first?.lowercased() == "root" { parts.removeFirst() }
        names = Self.isMarked(parts[...]) ? Self.unmarked(parts[...]) : parts
    }

    /// Reads a realm in any of the forms.
    public init(stringLiteral text: String) {
        self.init(text)
    }

    /// Whether every name has `realms` in front, as in a path. A realm that is called `realms` itself is written `root/realms`.
    private static func isMarked(_ parts: ArraySlice<String>) -> Bool {
        !parts.isEmpty && parts.count.isMultiple(of: 2)
            && stride(from: parts.startIndex, to: parts.endIndex, by: 2).allSatisfy { parts[$0] == "realms" }
    }

    private static func unmarked(_ parts: ArraySlice<String>) -> [String] {
        stride(from: parts.startIndex + 1, to: parts.endIndex, by: 2).map { parts[$0] }
    }

    /// With a slash in front of every name.
    public var description: String { names.isEmpty ? "/" : names.map { "/\($0)" }.joined() }

    /// The part of an address that names the realm, in one of the forms that servers take. There is no slash at either end; it may
    /// be empty.
    public func path(_ form: PathForm = .full) -> String {
        let names = names.map { $0.percentEncoded() }
        return switch form {
        case .full: (["root"] + names).map { "realms/\($0)" }.joined(separator: "/")
        case .alias: (names.isEmpty ? ["root"] : names).map { "realms/\($0)" }.joined(separator: "/")
        case .legacy: names.joined(separator: "/")
        }
    }

    /// How an address names a realm (protocol/journey.md section 1.2).
    public enum PathForm: String, Sendable, CaseIterable {
        /// `realms/root/realms/alpha`: every server's form, for any depth. The default.
        case full
        /// `realms/alpha`: the first name is one that the server knows without its parent, as Advanced Identity Cloud does.
        case alias
        /// `alpha`: the form before there was `realms`, which discovery documents of Advanced Identity Cloud still show.
        case legacy
    }
}
