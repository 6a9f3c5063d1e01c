/// The key of a user.
///
/// Two realms can each have a user `demo`.
///
/// Keys are equal when the bytes of their names are equal. Swift compares strings by canonical equivalence, but a database
/// compares bytes. With Swift's comparison, another spelling of a name would find the user in the configuration, but not the rows
/// that lock the user.
struct UserKey: Codable, Sendable, Hashable {
    let realm: RealmPath
    let name: String

    static func == (one: UserKey, other: UserKey) -> Bool {
        guard one.name.utf8.elementsEqual(other.name.utf8) else { return false }
        if one.realm.names.isEmpty, other.realm.names.isEmpty { return true }
        return one.realm.description.utf8.elementsEqual(other.realm.description.utf8)
    }

    /// Hashes the name only, because few users of different realms have the same one.
    func hash(into hasher: inout Hasher) {
        var name = name
        name.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
