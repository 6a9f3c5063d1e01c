import SignetCore

extension ServerTransaction {
    /// Creates a user.
    ///
    /// A user of the same name that existed before may have been another person, so the new user gets none of that user's devices,
    /// recovery codes, consents, emails and lockouts. The sessions and tokens of that user are invalid.
    /// - Parameters:
    ///   - user: The realm and the name.
    ///   - password: The password.
    ///   - claims: The standard claims by name.
    /// - Returns: False when the name is taken.
    /// - Throws: The error of a row that cannot be read, or of the store.
    mutating func addUser(_ user: UserKey, password: Secret, claims: [String: JSONValue]) throws -> Bool {
        guard try directory.add(user, password: password, claims: claims) else { return false }
        try removeBelongings(of: user)
        return true
    }

    /// Removes a user with everything that belongs to the user.
    /// - Parameter user: The user. One of the configuration stays.
    /// - Returns: False when the user doesn't exist, or is one of the configuration.
    /// - Throws: The error of a row that cannot be read, or of the store.
    mutating func removeUser(_ user: UserKey) throws -> Bool {
        guard try directory.contains(user), !directory.isConfigured(user) else { return false }
        try removeBelongings(of: user)
        directory.records.discard(user)
        return true
    }

    /// Makes the users new ones that the configuration has and did not have at the last start of a server with this state.
    ///
    /// A user of the same name that existed before, in an earlier configuration or by registration, may have been another person.
    /// - Parameters:
    ///   - users: The users of the configuration.
    ///   - known: The digests of the users of the configuration at the last start.
    /// - Returns: The number of new users.
    /// - Throws: The error of a row that cannot be read, or of the store.
    mutating func remakeUsers(of users: ConfiguredUsers, unlessIn known: Set<String>) throws -> Int {
        let new = users.all.filter { !known.contains(users.digest(of: $0)) }
        for user in new {
            try directory.remake(user)
            try removeBelongings(of: user)
        }
        return new.count
    }

    /// Replaces a user's password, and ends the user's sessions and tokens.
    ///
    /// A user that does not exist stays absent.
    mutating func setPassword(_ password: Secret, of user: UserKey) throws {
        try directory.setPassword(password, of: user)
        // The sessions are invalid already. They are removed, so that no list shows them.
        _ = try endSessions(of: user)
    }

    /// Returns the user with the id of the present password, for the journey that has identified the user.
    func identified(_ user: UserKey) throws -> IdentifiedUser {
        IdentifiedUser(user: user, generation: try directory.generation(of: user))
    }

    /// Removes one device or all devices of a user.
    ///
    /// Returns their number.
    mutating func removeDevices(of user: UserKey, kind: DeviceKind? = nil, id: String? = nil) throws -> Int {
        // Unreadable devices have no known kind or ID, so they are removed only together with all devices.
        var count = kind == nil ? try devices.removeUnreadable(of: user) : 0
        for each in DeviceKind.allCases where kind == nil || kind == each {
            for device in try devices.descriptions(each, of: user).compactMap({ $0["_id"]?.string })
            where id == nil || id == device {
                try removeDevice(each, device, of: user)
                count += 1
            }
        }
        return count
    }

    /// Removes a device with everything that waits for it.
    ///
    /// Returns its description, or nil when it doesn't exist.
    @discardableResult
    mutating func removeDevice(_ kind: DeviceKind, _ id: String, of owner: UserKey) throws -> JSONValue? {
        let device = try devices.description(kind, id, of: owner)
        if let removed = try devices.remove(kind, id, of: owner) {
            effects.append(.endStreams(removed.mechanismUID))
            try pushes.forget(mechanismUID: removed.mechanismUID)
        }
        return device
    }

    /// Removes what belongs to a user, except the user's record.
    private mutating func removeBelongings(of user: UserKey) throws {
        _ = try endSessions(of: user)
        _ = try removeDevices(of: user)
        devices.discardRecoveryCodes(of: user)
        for client in clients.all { consents.discard(by: client.key, of: user) }
        emails.discard(for: user)
        try lockouts.clearAll(user)
    }
}

extension Directory {
    /// Returns true for a user of the configuration; journeys and testers have created the others.
    func isConfigured(_ user: UserKey) -> Bool { configuredUsers.all.contains(user) }
}
