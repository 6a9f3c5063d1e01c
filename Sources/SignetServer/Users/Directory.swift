import Crypto
import SignetCore

/// A user's place: two realms may each have their `demo`.
struct UserKey: Sendable, Hashable {
    let realm: RealmPath
    let name: String
}

/// Who can log in. Of the passwords it keeps only keyed digests, which say nothing of a password's length.
struct Directory: Sendable {
    private let key = Secret.random(byteCount: 32)
    private let digests: [UserKey: HMAC<SHA256>.MAC]
    private let nobody: HMAC<SHA256>.MAC

    init(_ users: [User]) {
        let key = key
        digests = Dictionary(
            users.map { (UserKey(realm: RealmPath($0.realm), name: $0.name), Self.digest($0.password, key: key)) },
            uniquingKeysWith: { _, last in last })
        nobody = Self.digest(Secret.random(byteCount: 32), key: key)
    }

    func contains(_ user: UserKey) -> Bool {
        digests[user] != nil
    }

    /// Whether this is the user's password. For a user that does not exist the same work is done.
    func accepts(_ password: Secret, of user: UserKey) -> Bool {
        let offered = Self.digest(password, key: key)
        let expected = digests[user] ?? nobody
        let isRight = offered.withUnsafeBytes { offered in
            expected.withUnsafeBytes { ConstantTime.areEqual(offered, $0) }
        }
        return isRight && digests[user] != nil
    }

    private static func digest(_ password: Secret, key: Secret) -> HMAC<SHA256>.MAC {
        password.withUnsafeBytes { HMAC<SHA256>.authenticationCode(for: $0, using: key.key) }
    }
}
