public import SignetCore
public import SignetJourney
import YAMLText

/// The settings of a server profile as somebody wrote them in YAML, of which JSON is a part:
///
///     url: https://am.example.com/am
///     realm: alpha
///     client:
///       id: desktop
///       redirectUri: http://127.0.0.1/callback
///       scopes: [openid, profile]
///
/// `ServerProfile(yaml:)` makes a profile of it at once. A document is for a program that changes settings before it does so.
public struct ProfileDocument: Sendable {
    /// The settings, for `ServerProfile(document:)`. A word or a number without quotes is a text, as a profile takes either.
    public let settings: [String: JSONValue]
    private let root: MarkedValue?

    /// Reads a text in UTF-8. That it names what there is not, or a wrong value, is found when a profile is made of it.
    /// - Throws: `ProfileError` for what is not YAML, or no mapping, with its place.
    public init(yaml bytes: some Sequence<UInt8>) throws(ProfileError) {
        guard let text = String(validating: Array(bytes), as: UTF8.self) else {
            throw ProfileError("", .unreadable("is no text in UTF-8"))
        }
        do throws(YAMLText.Problem) {
            root = try YAMLText.value(of: text)
        } catch {
            throw ProfileError("", .unreadable("cannot be read: \(error.message)"), at: error.place)
        }
        guard let root else {
            settings = [:]
            return
        }
        guard let entries = root.mapping else {
            throw ProfileError(
                "", .unreadable("must be settings, each with a name and a colon, not \(root.kind)"), at: root.place)
        }
        settings = Dictionary(entries.map { ($0.key, $0.value.asWritten) }, uniquingKeysWith: { $1 })
    }

    /// A profile of the settings.
    /// - Throws: `ProfileError` with the place of the setting that is wrong.
    public func profile(policy: EndpointPolicy = .secure) throws(ProfileError) -> ServerProfile {
        do throws(ProfileError) {
            return try ServerProfile(document: .object(settings), policy: policy)
        } catch {
            throw placing(error) ?? error
        }
    }

    /// The same error with the place of the setting that it is about, or of what that would stand in; nil when neither is in this
    /// document.
    package func placing(_ error: ProfileError) -> ProfileError? {
        var place = root?.place
        var value = root
        for name in error.key.split(separator: ".") {
            guard let entry = value?.mapping?.first(where: { $0.key == name }) else { break }
            (value, place) = (entry.value, entry.place)
        }
        return place.map { ProfileError(error.key, error.fault, at: $0) }
    }
}

extension ServerProfile {
    /// A profile from a YAML document, for example
    ///
    ///     url: https://am.example.com/am
    ///     realm: alpha
    ///     timeout: 30
    ///
    /// Names and values are those of `ServerProfile(json:)`.
    /// - Throws: `ProfileError`, with the line of what is wrong.
    public init(yaml bytes: some Sequence<UInt8>, policy: EndpointPolicy = .secure) throws(ProfileError) {
        self = try ProfileDocument(yaml: bytes).profile(policy: policy)
    }
}

extension MarkedValue {
    /// The value as JSON in which a scalar is a text as it was written: a realm may be called `2024`, and what is a number or a truth
    /// is known by who asks for it. Only nothing is nothing.
    fileprivate var asWritten: JSONValue {
        switch content {
        case .list(let elements): .array(elements.map(\.asWritten))
        case .mapping(let entries): .object(Dictionary(entries.map { ($0.key, $0.value.asWritten) }, uniquingKeysWith: { $1 }))
        case .scalar(let text, _): isNothing ? .null : .string(truth.map { $0 ? "true" : "false" } ?? text)
        }
    }
}
