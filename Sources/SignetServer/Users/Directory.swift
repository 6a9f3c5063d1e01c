import Crypto
import SignetCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A user's place: two realms may each have their `demo`.
///
/// Names are the same when their bytes are. Swift's strings are also equal when they look alike, and a database's are not: one
/// spelling would find the user of the configuration file, and another the rows that say he is locked.
struct UserKey: Codable, Sendable, Hashable {
    let realm: RealmPath
    let name: String

    static func == (one: UserKey, other: UserKey) -> Bool { one.rowName.utf8.elementsEqual(other.rowName.utf8) }

    func hash(into hasher: inout Hasher) {
        var text = rowName
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

/// What is known of a user. Of the password it is only a digest or a hash, which says nothing of the password's length.
struct UserRecord: Codable, Sendable {
    fileprivate enum Password: Codable, Sendable {
        /// That of the configuration.
        case configured
        case hash(PasswordHash)
        /// None will do.
        case missing
    }

    let user: UserKey
    fileprivate var password: Password
    /// Standard claims by name.
    var claims: [String: JSONValue] = [:]
    var isLocked = false
    /// Questions and answers for when the password is forgotten; an answer is kept like a password. They come before those of the
    /// configuration.
    fileprivate var answers: [String: PasswordHash] = [:]
    /// The version of the terms that they have accepted.
    var acceptedTerms: String?
    /// What the configuration said when this was changed; nil for a person that a journey made.
    fileprivate var seed: SeedMarks?
}

/// What an entry of the configuration says, part by part, in short: another text when it says something else.
private struct SeedMarks: Codable, Sendable {
    let password: String
    let claims: String
    let isLocked: String
    let answers: String
}

/// The users of the configuration, which are read at every start. What a journey changes of one is kept beside, each part for as long as
/// the configuration says the same of it: who corrects a mail address there unlocks nobody, and brings no old password back.
struct ConfiguredUsers: Sendable {
    fileprivate struct Seed: Sendable {
        enum Password: Sendable {
            case digest(HMAC<SHA256>.MAC)
            case hash(PasswordHash)
            case missing
        }

        let password: Password
        let claims: [String: JSONValue]
        let isLocked: Bool
        let answers: [String: HMAC<SHA256>.MAC]
        /// What was made up because there was none: it is to be told to somebody.
        let madeUpPassword: Secret?
    }

    fileprivate let seeds: [UserKey: Seed]
    private let key: Secret
    fileprivate let nobody: HMAC<SHA256>.MAC

    /// - Parameters:
    ///   - key: what passwords are digested with; the same at every start, so that it can be told whether an entry has changed.
    ///   - madeUp: passwords for those who have none; nil when none will do for them.
    init(_ users: [User], key: Secret, madeUp: GeneratedPasswords? = nil) {
        self.key = key
        seeds = Dictionary(
            users.map { user in
                let place = UserKey(realm: RealmPath(user.realm), name: user.name)
                let hasNone = user.password == nil && user.passwordHash == nil
                let madeUpPassword = hasNone ? madeUp?.password(of: place) : nil
                let password: Seed.Password =
                    (user.password ?? madeUpPassword).map { .digest(Self.digest($0, key: key)) }
                    ?? user.passwordHash.map { .hash($0) } ?? .missing
                let seed = Seed(
                    password: password, claims: user.claims, isLocked: user.isLocked,
                    answers: user.securityAnswers.filter { !$0.value.isBlank }.mapValues { Self.digest($0.folded, key: key) },
                    madeUpPassword: madeUpPassword)
                return (place, seed)
            }, uniquingKeysWith: { _, last in last })
        nobody = Self.digest(Secret.random(byteCount: 32), key: key)
    }

    fileprivate func digest(_ password: Secret) -> HMAC<SHA256>.MAC { Self.digest(password, key: key) }

    private static func digest(_ password: Secret, key: Secret) -> HMAC<SHA256>.MAC {
        password.withUnsafeBytes { HMAC<SHA256>.authenticationCode(for: $0, using: key.key) }
    }

    fileprivate func marks(_ seed: Seed) -> SeedMarks {
        let password: JSONValue =
            switch seed.password {
            case .digest(let digest): .string(Self.text(digest))
            case .hash(let hash): .string(hash.text)
            case .missing: .null
            }
        return SeedMarks(
            password: mark(password), claims: mark(.object(seed.claims)), isLocked: mark(.bool(seed.isLocked)),
            answers: mark(.object(seed.answers.mapValues { .string(Self.text($0)) })))
    }

    private func mark(_ part: JSONValue) -> String {
        Self.text(HMAC<SHA256>.authenticationCode(for: JSON.encode(part), using: key.key))
    }

    private static func text(_ mac: HMAC<SHA256>.MAC) -> String { mac.withUnsafeBytes { Base64.encode($0, as: .url) } }
}

extension UserRecord {
    /// What the configuration says of a person, with what was changed of it since it says that.
    fileprivate func changed(as changed: UserRecord, unless marks: SeedMarks) -> UserRecord {
        var person = self
        person.acceptedTerms = changed.acceptedTerms
        if changed.seed?.password == marks.password { person.password = changed.password }
        if changed.seed?.claims == marks.claims { person.claims = changed.claims }
        if changed.seed?.isLocked == marks.isLocked { person.isLocked = changed.isLocked }
        if changed.seed?.answers == marks.answers { person.answers = changed.answers }
        return person
    }
}

/// Who can log in: the users of the configuration, and those that journeys have made.
struct Directory {
    private let seeded: ConfiguredUsers
    /// Those that journeys have made.
    private var people: Table<UserKey, UserRecord>
    /// Those of the configuration that journeys have changed.
    private var changes: Table<UserKey, UserRecord>
    private let transaction: RowCache

    init(_ seeded: ConfiguredUsers, _ transaction: RowCache) {
        self.seeded = seeded
        self.transaction = transaction
        people = Table(.person, transaction)
        changes = Table(.changedPerson, transaction)
    }

    func contains(_ user: UserKey) -> Bool { self[user] != nil }

    /// Whether what a user holds is good: sessions, and the tokens that came of them. It is for whoever is there and not locked, and it
    /// is asked whenever one is used: nothing has to be ended when somebody is removed from the configuration file.
    func isActive(_ user: UserKey) -> Bool { self[user].map { !$0.isLocked } ?? false }

    private(set) subscript(user: UserKey) -> UserRecord? {
        get {
            guard let seed = seeded.seeds[user] else { return people[user] }
            let configured = UserRecord(user: user, password: .configured, claims: seed.claims, isLocked: seed.isLocked)
            return changes[user].map { configured.changed(as: $0, unless: seeded.marks(seed)) } ?? configured
        }
        set {
            guard let seed = seeded.seeds[user] else {
                people[user] = newValue
                return
            }
            var changed = newValue
            changed?.seed = seeded.marks(seed)
            changes[user] = changed
        }
    }

    /// At most `limit` users, by realm and name as far as they go.
    func users(_ limit: Int, at now: Date) -> [UserKey] {
        func isBefore(_ one: UserKey, _ other: UserKey) -> Bool {
            (one.realm.description, one.name) < (other.realm.description, other.name)
        }
        // Those of a long file that are not shown are not put in order.
        let configured = seeded.seeds.count > 10 * limit ? Array(seeded.seeds.keys.prefix(limit)) : Array(seeded.seeds.keys)
        let made = people.page(after: nil, limit, at: now).map(\.value.user).filter { seeded.seeds[$0] == nil }
        return Array((configured + made).sorted(by: isBefore).prefix(limit))
    }

    /// How many there are; of those that journeys made at most `limit` are counted.
    func count(at now: Date, limit: Int) -> Int { seeded.seeds.count + people.count(at: now, limit: limit) }

    /// Whether this is the user's password. For a user that does not exist the same work is done as for one whose digest is kept.
    mutating func accepts(_ password: Secret, of user: UserKey) -> Bool {
        let offered = seeded.digest(password)
        switch self[user]?.password {
        case .hash(let hash): return transaction.accepts(password, hash)
        case .configured:
            switch seeded.seeds[user]?.password {
            case .digest(let digest): return Self.areEqual(offered, digest)
            case .hash(let hash): return transaction.accepts(password, hash)
            case .missing, nil: return refuse(offered)
            }
        case .missing, nil: return refuse(offered)
        }
    }

    /// The password that was made up for a user; nil when they have another one by now, or had one from the start.
    func madeUpPassword(of user: UserKey) -> Secret? {
        guard case .configured? = self[user]?.password else { return nil }
        return seeded.seeds[user]?.madeUpPassword
    }

    private func refuse(_ offered: HMAC<SHA256>.MAC) -> Bool {
        _ = Self.areEqual(offered, seeded.nobody)
        return false
    }

    /// Makes a user. False when there is one of that name.
    mutating func add(_ user: UserKey, password: Secret, claims: [String: JSONValue]) -> Bool {
        guard !contains(user) else { return false }
        let hash = transaction.hash(of: password, for: user.rowName)
        people[user] = UserRecord(user: user, password: hash.map { .hash($0) } ?? .missing, claims: claims)
        return true
    }

    /// Makes a user who cannot log in by password.
    mutating func addWithoutPassword(_ user: UserKey) { people[user] = UserRecord(user: user, password: .missing) }

    /// Gives a user another password. The one before is good for nothing any more.
    mutating func setPassword(_ password: Secret, of user: UserKey) {
        let hash = transaction.hash(of: password, for: user.rowName)
        self[user]?.password = hash.map { .hash($0) } ?? .missing
    }

    mutating func setLocked(_ isLocked: Bool, _ user: UserKey) { self[user]?.isLocked = isLocked }

    mutating func acceptTerms(_ version: String, _ user: UserKey) { self[user]?.acceptedTerms = version }

    mutating func merge(_ claims: [String: JSONValue], into user: UserKey) {
        self[user]?.claims.merge(claims) { $1 }
    }

    // MARK: Questions

    /// The questions that the user can answer, in the order of the alphabet.
    func questions(of user: UserKey) -> [String] {
        guard let person = self[user] else { return [] }
        return Set(person.answers.keys).union(seeded.seeds[user]?.answers.keys.map { $0 } ?? []).sorted()
    }

    /// Keeps answers to questions. Upper and lower case, and spaces around an answer, are the same. A blank answer is not kept.
    mutating func keep(_ answers: [String: Secret], of user: UserKey) {
        for (question, answer) in answers where !answer.isBlank {
            let hash = transaction.hash(of: answer.folded, for: "\(user.rowName)\n\(question)")
            self[user]?.answers[question] = hash
        }
    }

    /// Whether this is the user's answer. A blank answer never is, also where an earlier version has stored one.
    func accepts(_ answer: Secret, to question: String, of user: UserKey) -> Bool {
        guard !answer.isBlank else { return false }
        if let hash = self[user]?.answers[question] { return transaction.accepts(answer.folded, hash) }
        return Self.areEqual(seeded.digest(answer.folded), seeded.seeds[user]?.answers[question] ?? seeded.nobody)
    }

    private static func areEqual(_ offered: HMAC<SHA256>.MAC, _ expected: HMAC<SHA256>.MAC) -> Bool {
        offered.withUnsafeBytes { offered in expected.withUnsafeBytes { ConstantTime.areEqual(offered, $0) } }
    }
}

extension Secret {
    /// Whether nothing can be seen of the text: it is empty, or all of it is white space, control characters or characters that are not shown.
    var isBlank: Bool {
        String(decoding: bytes, as: UTF8.self).unicodeScalars.allSatisfy { scalar in
            let properties = scalar.properties
            return properties.isWhitespace || properties.isDefaultIgnorableCodePoint || properties.generalCategory == .control
        }
    }

    /// The text in lower case and without spaces at its ends.
    fileprivate var folded: Secret {
        Secret(String(decoding: bytes, as: UTF8.self).lowercased().trimming(" \t").utf8)
    }
}
