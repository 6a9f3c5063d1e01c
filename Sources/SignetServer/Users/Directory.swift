import Crypto
import SignetCore

/// A user's place: two realms may each have their `demo`.
struct UserKey: Sendable, Hashable {
    let realm: RealmPath
    let name: String
}

/// What is known of a user. Of the password it is only a keyed digest, which says nothing of the password's length.
struct Person: Sendable {
    fileprivate var digest: HMAC<SHA256>.MAC
    /// Standard claims by name.
    var claims: [String: JSONValue] = [:]
    var isLocked = false
    /// Questions and answers for when the password is forgotten; an answer is kept like a password.
    fileprivate var answers: [String: HMAC<SHA256>.MAC] = [:]
}

/// Who can log in.
struct Directory: Sendable {
    private let key = Secret.random(byteCount: 32)
    private var people: [UserKey: Person]
    private let nobody: HMAC<SHA256>.MAC

    init(_ users: [User]) {
        let key = key
        people = Dictionary(
            users.map { user in
                let digest = Self.digest(user.password, key: key)
                return (
                    UserKey(realm: RealmPath(user.realm), name: user.name),
                    Person(digest: digest, claims: user.claims, isLocked: user.isLocked)
                )
            }, uniquingKeysWith: { _, last in last })
        nobody = Self.digest(Secret.random(byteCount: 32), key: key)
    }

    func contains(_ user: UserKey) -> Bool {
        people[user] != nil
    }

    subscript(user: UserKey) -> Person? { people[user] }

    /// Whether this is the user's password. For a user that does not exist the same work is done.
    func accepts(_ password: Secret, of user: UserKey) -> Bool {
        let isRight = Self.areEqual(Self.digest(password, key: key), people[user]?.digest ?? nobody)
        return isRight && people[user] != nil
    }

    /// Makes a user. False when there is one of that name.
    mutating func add(_ user: UserKey, password: Secret, claims: [String: JSONValue]) -> Bool {
        guard people[user] == nil else { return false }
        people[user] = Person(digest: Self.digest(password, key: key), claims: claims)
        return true
    }

    // MARK: Questions

    /// The questions that the user can answer, in the order of the alphabet.
    func questions(of user: UserKey) -> [String] {
        (people[user]?.answers.keys).map { $0.sorted() } ?? []
    }

    /// Keeps answers to questions. Upper and lower case, and spaces around an answer, are the same.
    mutating func keep(_ answers: [String: Secret], of user: UserKey) {
        for (question, answer) in answers { people[user]?.answers[question] = Self.digest(answer.folded, key: key) }
    }

    /// Whether this is the user's answer.
    func accepts(_ answer: Secret, to question: String, of user: UserKey) -> Bool {
        Self.areEqual(Self.digest(answer.folded, key: key), people[user]?.answers[question] ?? nobody)
    }

    private static func digest(_ password: Secret, key: Secret) -> HMAC<SHA256>.MAC {
        password.withUnsafeBytes { HMAC<SHA256>.authenticationCode(for: $0, using: key.key) }
    }

    private static func areEqual(_ offered: HMAC<SHA256>.MAC, _ expected: HMAC<SHA256>.MAC) -> Bool {
        offered.withUnsafeBytes { offered in expected.withUnsafeBytes { ConstantTime.areEqual(offered, $0) } }
    }
}

extension Secret {
    /// The text in lower case and without spaces at its ends.
    fileprivate var folded: Secret {
        Secret(String(decoding: bytes, as: UTF8.self).lowercased().trimming(" \t").utf8)
    }
}
