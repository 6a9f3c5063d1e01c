import SignetAuthenticator
package import SignetCore

// The state of a machine as JSON (docs/reference/archive-format.md). A member that cannot be read makes the whole state
// unreadable: a part of a state could look like a removal.

extension SyncState: StoredForm {
    package var storedMembers: [String: JSONValue] {
        var members: [String: JSONValue] = [
            "machine": .string(machine), "name": .string(name), "sequence": .integer(Int64(sequence)),
            "clock": .integer(Int64(clock)),
        ]
        members["machines"] = .object(
            machines.mapValues { .object(["name": .string($0.name), "sequence": .integer(Int64($0.sequence))]) })
        members["entries"] = .array(
            entries.map { id, entry in .object(entry.storedMembers.merging(["id": .object(id.storedMembers)]) { own, _ in own }) }
        )
        if !conflicts.isEmpty { members["conflicts"] = .array(conflicts.map { .object($0.storedMembers) }) }
        return members
    }

    /// The maximum number of accounts and of machines that are read.
    private static let limits = (entries: 200_000, machines: 1_000)

    package init(stored members: JSONMembers) throws {
        let machine = try members.text("machine")
        guard SyncMachine.isID(machine) else { throw UndecodableRecord() }
        self.init(machine: machine, name: SyncMachine.shownName(try members.text("name"), id: machine))
        sequence = try members.count("sequence")
        clock = try members.count("clock")
        let known = try members.object("machines").all
        let entries = try members.objects("entries")
        guard known.count <= Self.limits.machines, entries.count <= Self.limits.entries else { throw UndecodableRecord() }
        for (id, value) in known {
            guard SyncMachine.isID(id), let object = value.object else { throw UndecodableRecord() }
            let other = JSONMembers(object)
            machines[id] = SyncMachine(
                name: SyncMachine.shownName(try other.text("name"), id: id), sequence: try other.count("sequence"))
        }
        for members in entries {
            let id = try AccountID(stored: members.object("id"))
            guard self.entries[id] == nil else { throw UndecodableRecord() }
            self.entries[id] = try SyncEntry(stored: members)
        }
        // A version is never newer than the clock of a state that has it.
        for entry in self.entries.values {
            let versions = [entry.lastEdit, entry.removal?.version].compactMap { $0 }
            guard versions.allSatisfy({ $0.counter <= clock }) else { throw UndecodableRecord() }
        }
        conflicts = try members["conflicts"] == nil ? [] : members.objects("conflicts").map { try SyncConflict(stored: $0) }
    }
}

extension SyncEntry: StoredForm {
    package var storedMembers: [String: JSONValue] {
        var groups: [String: JSONValue] = [:]
        for (group, register) in registers { groups[group.rawValue] = .object(register.storedMembers) }
        var members: [String: JSONValue] = ["groups": .object(groups)]
        if let counter {
            members["counter"] = .object(["secret": .string(counter.secret.text), "next": .string(String(counter.next))])
        }
        members["removal"] = removal.map { .object($0.storedMembers) }
        return members
    }

    package init(stored members: JSONMembers) throws {
        self.init()
        for (name, value) in try members.object("groups").all {
            guard let object = value.object else { throw UndecodableRecord() }
            registers[SyncGroup(rawValue: name)] = try SyncRegister(stored: JSONMembers(object))
        }
        if let counter = try members.optionalObject("counter") {
            guard let next = UInt64(try counter.text("next")) else { throw UndecodableRecord() }
            self.counter = SyncCounter(secret: try counter.version("secret"), next: next)
        }
        removal = try members.optionalObject("removal").map { try SyncRemoval(stored: $0) }
    }
}

extension SyncRegister: StoredForm {
    package var storedMembers: [String: JSONValue] {
        var members: [String: JSONValue] = ["version": .string(version.text), "value": value.json]
        members["base"] = base.map { .string($0.text) }
        return members
    }

    package init(stored members: JSONMembers) throws {
        let value = SyncValue(members["value"] ?? .null)
        guard value.isStorable else { throw UndecodableRecord() }
        self.init(version: try members.version("version"), base: try members.optionalVersion("base"), value: value)
    }
}

extension SyncRemoval: StoredForm {
    package var storedMembers: [String: JSONValue] {
        var members: [String: JSONValue] = ["version": .string(version.text), "time": .integer(Int64(time))]
        members["base"] = base.map { .string($0.text) }
        return members
    }

    package init(stored members: JSONMembers) throws {
        self.init(
            version: try members.version("version"), base: try members.optionalVersion("base"),
            time: try members.count("time"))
    }
}

extension SyncConflict: StoredForm {
    package var storedMembers: [String: JSONValue] {
        var members: [String: JSONValue] = [
            "account": .object(account.storedMembers), "winner": .string(winner.text), "loser": .string(loser.text),
            "lost": lost.json, "time": .integer(Int64(time)),
        ]
        members["group"] = group.map { .string($0.rawValue) }
        return members
    }

    package init(stored members: JSONMembers) throws {
        self.init(
            account: try AccountID(stored: members.object("account")),
            group: try members.optionalText("group").map { SyncGroup(rawValue: $0) }, winner: try members.version("winner"),
            loser: try members.version("loser"), lost: SyncValue(members["lost"] ?? .null), time: try members.count("time"))
    }
}

extension JSONMembers {
    /// Returns a number that is not negative and far from an overflow.
    fileprivate func count(_ name: String) throws -> Int {
        let number = try integer(name)
        guard (0...SyncVersion.maxCounter).contains(number) else { throw UndecodableRecord() }
        return number
    }

    fileprivate func version(_ name: String) throws -> SyncVersion {
        guard let version = SyncVersion(try text(name)) else { throw UndecodableRecord() }
        return version
    }

    fileprivate func optionalVersion(_ name: String) throws -> SyncVersion? {
        try optionalText(name).map { text in
            guard let version = SyncVersion(text) else { throw UndecodableRecord() }
            return version
        }
    }
}
