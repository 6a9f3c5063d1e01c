public import SignetCore
public import SignetOAuth
import YAMLText

/// The settings of a server profile as written in YAML, of which JSON is a subset.
///
///     url: https://am.example.com/am
///     realm: alpha
///     client:
///       id: desktop
///       redirectUri: http://127.0.0.1/callback
///       scopes: [openid, profile]
///
/// `ServerProfile(yaml:)` makes a profile from YAML directly. Use a document in a program that changes settings before it makes
/// the profile.
public struct ProfileDocument: Sendable {
    /// The settings, for `ServerProfile(document:)`.
    ///
    /// An unquoted word or number is a string; a profile accepts numbers and Booleans as strings.
    public let settings: [String: JSONValue]
    private let root: MarkedValue?

    /// Parses a UTF-8 text.
    ///
    /// Unknown settings and wrong values are reported later, by ``profile(policy:clientSecret:)``.
    /// - Throws: `ProfileError`, with its position, if the text isn't YAML or isn't a mapping.
    public init(yaml bytes: some Sequence<UInt8>) throws(ProfileError) {
        guard let text = String(strictUTF8: Array(bytes)) else {
            throw ProfileError("", .unreadable("is not text in UTF-8"))
        }
        do throws(YAMLText.Problem) {
            root = try YAMLText.value(of: text)
        } catch {
            throw ProfileError("", .unreadable("cannot be read: \(error.message)"), at: error.position)
        }
        guard let root else {
            settings = [:]
            return
        }
        guard let entries = root.mapping else {
            throw ProfileError(
                "", .unreadable("must be settings, each with a name and a colon, not \(root.kind)"), at: root.position)
        }
        settings = Dictionary(entries.map { ($0.key, $0.value.asWritten) }, uniquingKeysWith: { $1 })
    }

    /// Makes a profile from the settings.
    /// - Parameters:
    ///   - policy: The policy that decides which addresses may receive a password.
    ///   - clientSecret: The secret of the client, from a storage of the app; nil for the one in the file that the settings name.
    /// - Returns: The profile.
    /// - Throws: `ProfileError` with the position of the wrong setting.
    public func profile(policy: EndpointPolicy = .secure, clientSecret: Secret? = nil) throws(ProfileError) -> ServerProfile {
        do throws(ProfileError) {
            return try ServerProfile(document: .object(settings), policy: policy, clientSecret: clientSecret)
        } catch {
            throw placing(error) ?? error
        }
    }

    /// Returns the error with the position of the setting that it is about, or of the closest parent that is in this document.
    ///
    /// Returns nil for an empty document.
    package func placing(_ error: ProfileError) -> ProfileError? {
        var position = root?.position
        var value = root
        for name in error.key.split(separator: ".") {
            guard let entry = value?.mapping?.first(where: { $0.key == name }) else { break }
            (value, position) = (entry.value, entry.position)
        }
        return position.map { ProfileError(error.key, error.fault, at: $0) }
    }
}

extension ServerProfile {
    /// Makes a profile from a YAML document.
    ///
    ///     url: https://am.example.com/am
    ///     realm: alpha
    ///     timeout: 30
    ///
    /// Names and values are those of `ServerProfile(json:)`.
    /// - Parameters:
    ///   - bytes: The document.
    ///   - policy: The policy that decides which addresses may receive a password.
    ///   - clientSecret: The secret of the client, from a storage of the app; nil for the one in the file that the document names.
    /// - Throws: `ProfileError`, with the line of the error.
    public init(
        yaml bytes: some Sequence<UInt8>, policy: EndpointPolicy = .secure, clientSecret: Secret? = nil
    ) throws(ProfileError) {
        self = try ProfileDocument(yaml: bytes).profile(policy: policy, clientSecret: clientSecret)
    }
}

extension MarkedValue {
    /// The value as JSON, with each scalar as a string.
    ///
    /// The profile decides whether a setting is a number or a Boolean: a realm may be called `2024`. Only an empty value is null.
    fileprivate var asWritten: JSONValue {
        switch content {
        case .list(let elements): .array(elements.map(\.asWritten))
        case .mapping(let entries): .object(Dictionary(entries.map { ($0.key, $0.value.asWritten) }, uniquingKeysWith: { $1 }))
        case .scalar(let text, _): isNothing ? .null : .string(bool.map { $0 ? "true" : "false" } ?? text)
        }
    }
}
