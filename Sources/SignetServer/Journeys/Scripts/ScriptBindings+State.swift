import SignetCore

/// The state of a journey as a script sees it.
extension ScriptBindings {
    /// A map of the state that a script has read, and its content when the state had the same.
    ///
    /// `sharedState` and `transientState` of AM give a script the map itself, so that a change of it changes the state.
    struct View {
        let object: ScriptObject
        var written: [String: JSONValue]
    }

    /// Calls a method of `nodeState`, `sharedState` or `transientState`.
    /// - Parameters:
    ///   - name: The name of the method.
    ///   - isShared: True for `sharedState` and `transientState`.
    ///   - arguments: The arguments.
    ///   - line: The line of the call, for messages.
    /// - Returns: The result.
    /// - Throws: ``ScriptError``.
    func stateMethod(
        _ name: String, isShared: Bool, _ arguments: [ScriptValue], line: Int
    ) throws(ScriptError) -> ScriptValue {
        let key = arguments.first?.text ?? ""
        switch name {
        case "get", "getObject": return try stateValue(key, isShared: isShared)
        case "isDefined", "containsKey": return .bool(try currentValue(key) != nil)
        case "put", "putShared", "putTransient":
            try put(arguments.count > 1 ? arguments[1] : .null, for: key, line: line)
            return .host(.state(isShared: isShared))
        case "mergeShared", "mergeTransient":
            guard case .object(let object)? = arguments.first else { throw .failed("`\(name)` needs an object in line \(line)") }
            for name in object.names { try put(object[name] ?? .null, for: name, line: line) }
            return .host(.state(isShared: isShared))
        case "remove":
            let before = try currentValue(key)
            views[key] = nil
            journey.set(nil, for: key)
            return ScriptValue(before, isMap: true)
        case "keys", "keySet":
            try writeViews()
            return ScriptValue(texts: (journey.attributes.keys + (journey.username.map { _ in ["username"] } ?? [])).sorted())
        case "toString":
            try writeViews()
            return try ScriptInterpreter.bounded(JSON.text(of: .object(shownState)))
        default: throw .unsupported("`\(name)()` of the state", line: line)
        }
    }

    /// The state without passwords, for a script that shows it.
    private var shownState: [String: JSONValue] {
        var state = journey.attributes
        state["realm"] = .string(journey.realm.description)
        state["username"] = journey.username.map { .string($0) }
        return state
    }

    // MARK: Values

    private func stateValue(_ key: String, isShared: Bool) throws(ScriptError) -> ScriptValue {
        let value = try currentValue(key)
        guard isShared, case .object(let members)? = value else { return ScriptValue(value, isMap: true) }
        if let view = views[key], view.written == members { return .object(view.object) }
        guard case .object(let new) = ScriptValue(value, isMap: true) else { return .null }
        let object = views[key]?.object ?? new
        if object !== new { object.replaceMembers(with: new) }
        views[key] = View(object: object, written: members)
        return .object(object)
    }

    /// Returns a value of the state, with the changes of the script.
    private func currentValue(_ key: String) throws(ScriptError) -> JSONValue? {
        // A map of attributes can change the attribute of another name.
        if !views.isEmpty { try writeViews() }
        // `_id` is that of the user in AM's identity management.
        if key == "_id", journey.attributes[key] == nil { return try isKnownUser ? journey.username.map { .string($0) } : nil }
        return journey.value(key)
    }

    private func put(_ value: ScriptValue, for key: String, line: Int) throws(ScriptError) {
        try writeViews()
        guard let json = value.json, json.isStorable else {
            throw .failed("the value of `\(key)` in line \(line) cannot be a part of the state")
        }
        guard JSON.text(of: json).utf8.count <= ScriptInterpreter.maxTextSize else { throw .tooLarge }
        views[key] = nil
        journey.set(json, for: key)
    }

    /// Writes the maps that the script has changed into the state.
    func writeViews() throws(ScriptError) {
        for (key, view) in views.sorted(by: { $0.key < $1.key }) {
            guard let json = ScriptValue.object(view.object).json, json.isStorable, let members = json.object else {
                throw .failed("the value of `\(key)` cannot be a part of the state")
            }
            guard members != view.written else { continue }
            guard JSON.text(of: json).utf8.count <= ScriptInterpreter.maxTextSize else { throw .tooLarge }
            views[key]?.written = members
            guard key == "objectAttributes" else {
                journey.set(json, for: key)
                continue
            }
            for name in view.written.keys where members[name] == nil { journey.set(nil, for: name) }
            journey.set(.object(members.filter { view.written[$0.key] != $0.value }), for: key)
        }
    }
}
