import Crypto
import SignetCore

/// A user's place: two realms may each have their `demo`.
struct UserKey: Sendable, Hashable {
    let realm: RealmPath
    let name: String
}

/// What is known of a user. Of the password it is only a digest, which says nothing of the password's length.
struct Person: Sendable {
    fileprivate enum Password: Sendable {
        case digest(HMAC<SHA256>.MAC)
        /// As the configuration brought it, until the right password was seen.
        case hash(PasswordHash)
        /// None will do.
        case missing
    }

    fileprivate var password: Password
    /// Standard claims by name.
    var claims: [String: JSONValue] = [:]
    var isLocked = false
    /// Questions and answers for when the password is forgotten; an answer is kept like a password.
    fileprivate var answers: [String: HMAC<SHA256>.MAC] = [:]
    /// The version of the terms that they have accepted.
    var acceptedTerms: String?
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
                var person = Person(password: Self.password(of: user, key), claims: user.claims, isLocked: user.isLocked)
                person.answers = user.securityAnswers.mapValues { Self.digest($0.folded, key: key) }
                return (UserKey(realm: RealmPath(user.realm), name: user.name), person)
            }, uniquingKeysWith: { _, last in last })
        nobody = Self.digest(Secret.random(byteCount: 32), key: key)
    }

    func contains(_ user: UserKey) -> Bool {
        people[user] != nil
    }

    subscript(user: UserKey) -> Person? { people[user] }

    /// Everybody, by realm and name.
    var users: [UserKey] { people.keys.sorted { ($0.realm.description, $0.name) < ($1.realm.description, $1.name) } }

    private static func password(of user: User, _ key: Secret) -> Person.Password {
        if let password = user.password { return .digest(digest(password, key: key)) }
        return user.passwordHash.map { .hash($0) } ?? .missing
    }

    /// Whether this is the user's password. For a user that does not exist the same work is done as for one whose digest is kept;
    /// a hash of the configuration's takes its time once, and gives way to the digest then.
    mutating func accepts(_ password: Secret, of user: UserKey) -> Bool {
        let offered = Self.digest(password, key: key)
        switch people[user]?.password {
        case .digest(let digest): return Self.areEqual(offered, digest)
        case .hash(let hash):
            guard hash.accepts(password) else { return false }
            people[user]?.password = .digest(offered)
            return true
        case nil, .missing:
            _ = Self.areEqual(offered, nobody)
            return false
        }
    }

    /// Makes a user. False when there is one of that name.
    mutating func add(_ user: UserKey, password: Secret, claims: [String: JSONValue]) -> Bool {
        guard people[user] == nil else { return false }
        people[user] = Person(password: .digest(Self.digest(password, key: key)), claims: claims)
        return true
    }

    mutating func setLocked(_ isLocked: Bool, _ user: UserKey) { people[user]?.isLocked = isLocked }

    mutating func acceptTerms(_ version: String, _ user: UserKey) { people[user]?.acceptedTerms = version }

    mutating func merge(_ claims: [String: JSONValue], into user: UserKey) {
        people[user]?.claims.merge(claims) { $1 }
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
