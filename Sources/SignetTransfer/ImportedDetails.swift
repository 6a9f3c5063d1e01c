import SignetCore

/// The groups, the note and the icon of an entry in another authenticator's file.
///
/// A format adds what its entries have. A value that cannot be stored is counted in ``leftOut``.
struct ImportedDetails: Sendable, Hashable {
    private(set) var groups: [String] = []
    private(set) var note: Secret?
    private(set) var iconName: String?
    private(set) var icon: AccountIcon?
    /// The number of values that cannot be stored, by the name of the property.
    private(set) var leftOut: [String: Int] = [:]

    /// The maximum number of groups of an account.
    static let maxGroups = 64
    /// The maximum length of the name of a group or an icon, in characters.
    static let maxNameLength = 128
    /// The maximum length of a note in bytes.
    static let maxNoteLength = 16 << 10

    init() {}

    /// Creates the details of an account that was read already.
    init(_ account: ImportedAccount) {
        (groups, note, iconName, icon) = (account.groups, account.note, account.iconName, account.icon)
    }

    /// Adds a group by its name; nothing for a name that is nil or empty.
    mutating func addGroup(_ name: String?) {
        guard let name = name?.trimmingWhitespace(), !name.isEmpty, !groups.contains(name) else { return }
        guard Self.isName(name), groups.count < Self.maxGroups else { return leaveOut("group") }
        groups.append(name)
    }

    /// Adds a group by its id; nothing for an id that is nil.
    /// - Parameters:
    ///   - id: The id.
    ///   - names: The names of all groups of the file, by their ids.
    mutating func addGroup(id: String?, in names: [String: String]) {
        guard let id else { return }
        guard let name = names[id] else { return leaveOut("group") }
        addGroup(name)
    }

    /// Returns the names of groups by their ids.
    /// - Parameters:
    ///   - groups: The list of groups.
    ///   - id: The name of the member with the id.
    ///   - name: The name of the member with the name.
    /// - Returns: The names; of several groups with one id, the first one's.
    static func groupNames(_ groups: JSONValue?, id: String, name: String) -> [String: String] {
        var names: [String: String] = [:]
        for group in groups?.array ?? [] {
            guard let key = group[id]?.string, let title = group[name]?.string, names[key] == nil else { continue }
            names[key] = title
        }
        return names
    }

    /// Sets the note; nothing for a text that is nil or empty.
    mutating func setNote(_ text: String?) {
        guard let text = text?.trimmingWhitespace(), !text.isEmpty else { return }
        guard text.utf8.count <= Self.maxNoteLength else { return leaveOut("note") }
        note = Secret(text: text.replacing("\r\n", with: "\n"))
    }

    /// Sets the name of the icon in the other program; nothing for a name that is nil or empty.
    mutating func setIconName(_ name: String?) {
        guard let name = name?.trimmingWhitespace(), !name.isEmpty else { return }
        guard Self.isName(name) else { return leaveOut("icon") }
        iconName = name
    }

    /// Sets the icon to a picture in base64; nothing for a text that is nil or empty.
    mutating func setIcon(_ base64: String?) {
        guard let base64, !base64.isEmpty else { return }
        // Four characters of base64 are three bytes.
        guard base64.utf8.count <= AccountIcon.maxLength / 3 * 4 + 4, let data = try? Base64.decode(base64),
            let icon = AccountIcon(data)
        else { return leaveOut("icon") }
        self.icon = icon
    }

    /// Counts a value that cannot be stored.
    mutating func leaveOut(_ name: String) { leftOut[name, default: 0] += 1 }

    private static func isName(_ name: String) -> Bool { name.isSafeToShow && name.count <= maxNameLength }
}

extension ImportedAccount {
    /// Adds the groups of an entry, its note, and its icon when the account has none.
    /// - Returns: False when the notes of several entries are too long together, and the note was not added.
    @discardableResult
    mutating func add(_ details: ImportedDetails) -> Bool {
        for group in details.groups where !groups.contains(group) && groups.count < ImportedDetails.maxGroups {
            groups.append(group)
        }
        iconName = iconName ?? details.iconName
        icon = icon ?? details.icon
        guard let text = details.note?.text else { return true }
        guard let own = note?.text else {
            note = details.note
            return true
        }
        guard !own.contains(text) else { return true }
        guard own.utf8.count + text.utf8.count + 2 <= ImportedDetails.maxNoteLength else { return false }
        note = Secret(text: "\(own)\n\n\(text)")
        return true
    }

    /// Replaces the groups, the note and the icon by those of one entry.
    mutating func replaceDetails(with details: ImportedDetails) {
        (groups, note, iconName, icon) = (details.groups, details.note, details.iconName, details.icon)
    }
}
