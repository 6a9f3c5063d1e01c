import SignetCore

/// The state of a journey under the names that AM's nodes and scripts use for it.
///
/// AM has a shared state, a transient state, and `objectAttributes` in each of them. Here the collected attributes are one set, and
/// those of the user are marked (``JourneyState/objectAttributes``).
extension JourneyState {
    /// Returns a value of the state; nil when it is absent.
    /// - Parameter name: The name in AM, for example `username`, `password`, `objectAttributes` or `mail`.
    /// - Returns: The value, or nil.
    func value(_ name: String) -> JSONValue? {
        switch name {
        case "username", "userName": username.map { .string($0) } ?? attributes[name]
        case "password": password.map { .string($0.text) }
        case "oneTimePassword": oneTimePassword.map { .string($0.password.text) }
        case "realm": .string(realm.description)
        case "objectAttributes": userAttributes.map { .object($0) }
        default: attributes[name]
        }
    }

    /// Sets a value of the state.
    /// - Parameters:
    ///   - value: The value; nil or null removes it.
    ///   - name: The name in AM. The members of `objectAttributes` become attributes of the user.
    mutating func set(_ value: JSONValue?, for name: String) {
        let value = value == .null ? nil : value
        switch name {
        case "username", "userName": username = value?.string
        case "password": password = value?.string.map { Secret($0.utf8) }
        case "oneTimePassword": if value == nil { oneTimePassword = nil }
        case "realm": break
        case "objectAttributes":
            for (member, value) in value?.object ?? [:] { collect(value, for: member) }
        default: attributes[name] = value
        }
    }

    /// Sets an attribute of the user, which Create Object and Patch Object store.
    mutating func collect(_ value: JSONValue, for name: String) {
        set(value, for: name)
        guard attributes[name] != nil, objectAttributes?.contains(name) != true else { return }
        objectAttributes = (objectAttributes ?? []) + [name]
    }

    /// The collected attributes of the user, with members of a path as nested objects; nil without attributes.
    private var userAttributes: [String: JSONValue]? {
        var object = JSONValue.object(username.map { ["userName": .string($0)] } ?? [:])
        for name in objectAttributes ?? [] {
            guard let value = attributes[name] else { continue }
            object = object.setting(value, at: UserAttributes.names(name)[...])
        }
        return object.object.flatMap { $0.isEmpty ? nil : $0 }
    }
}
