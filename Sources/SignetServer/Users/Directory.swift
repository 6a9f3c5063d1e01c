import Crypto
import Foundation
import SignetCore

extension UserKey {
    /// The key of the name in lowercase.
    var folded: UserKey { UserKey(realm: realm, name: name.lowercased()) }
}

/// The stored data of a user.
///
/// The password is stored as a digest or a hash only, which doesn't reveal its length.
struct UserRecord: Codable, Sendable {
    fileprivate enum Password: Codable, Sendable {
        /// The password from the configuration.
        case configured
        case hash(PasswordHash)
        /// No password is accepted.
        case missing
    }

    let user: UserKey
    fileprivate var password: Password
    /// Standard claims by name.
    var claims: [String: JSONValue] = [:]
    var isLocked = false
    /// The security questions with hashed answers, for users that forget their password.
    ///
    /// They take precedence over those of the configuration.
    fileprivate var answers: [String: PasswordHash] = [:]
    /// The version of the terms that the user has accepted.
    var acceptedTerms: String?
    /// The id of the user's present password; nil until the user gets a password other than that of the configuration.
    ///
    /// Sessions and tokens have the id of the password at their login, and are valid for as long as it stays the same.
    var generation: String?
    /// The fingerprints of the configuration at the time of the change; nil for a user that a journey created.
    fileprivate var fingerprints: EntryFingerprints?
    /// The attributes that journeys have stored and that are not claims, by name; nil for none.
    var attributes: [String: JSONValue]?
    /// The number of logins that journeys have counted; nil for none.
    var loginCount: Int?

    /// The names in stored rows.
    private enum CodingKeys: String, CodingKey {
        case user, password, claims, isLocked, answers, acceptedTerms, generation, attributes, loginCount
        case fingerprints = "seed"
    }
}

/// The users in the configuration, which is read at every start.
///
/// Changes to a user are stored separately. Each changed part is used for as long as the configuration's part stays the same. For
/// example, an edit of the email address in the configuration neither unlocks the user nor restores an old password.
struct ConfiguredUsers: Sendable {
    fileprivate struct Entry: Sendable {
        enum Password: Sendable {
            case digest(HMAC<SHA256>.MAC)
            case hash(PasswordHash)
            case missing
        }

        let password: Password
        let claims: [String: JSONValue]
        let isLocked: Bool
        let isAdministrator: Bool
        let answers: [String: HMAC<SHA256>.MAC]
        /// The generated password of a user without one, for display to the tester.
        let generatedPassword: Secret?
    }

    fileprivate let entries: [UserKey: Entry]
    /// The users by the lowercase form of their names.
    fileprivate let byFoldedName: [UserKey: [UserKey]]
    private let key: Secret
    fileprivate let unknownUserDigest: HMAC<SHA256>.MAC

    /// Creates the configured users.
    /// - Parameters:
    ///   - users: The users of the configuration.
    ///   - key: The key for password digests. It must be the same at every start, so that changes of entries are detected.
    ///   - generatedPasswords: The generator of passwords for users without one; nil to accept no password for them.
    init(_ users: [User], key: Secret, generatedPasswords: GeneratedPasswords? = nil) {
        self.key = key
        entries = Dictionary(
            users.map { user in
                let userKey = UserKey(realm: RealmPath(user.realm), name: user.name)
                let hasNone = user.password == nil && user.passwordHash == nil
                let generatedPassword = hasNone ? generatedPasswords?.password(of: userKey) : nil
                let password: Entry.Password =
                    (user.password ?? generatedPassword).map { .digest(Self.digest($0, key: key)) }
                    ?? user.passwordHash.map { .hash($0) } ?? .missing
                let entry = Entry(
                    password: password, claims: user.claims, isLocked: user.isLocked, isAdministrator: user.isAdministrator,
                    answers: user.securityAnswers.filter { !$0.value.isBlank }.mapValues { Self.digest($0.folded, key: key) },
                    generatedPassword: generatedPassword)
                return (userKey, entry)
            }, uniquingKeysWith: { _, last in last })
        byFoldedName = Dictionary(grouping: entries.keys, by: \.folded)
        unknownUserDigest = Self.digest(Secret.random(byteCount: 32), key: key)
    }

    /// The users.
    var all: some Collection<UserKey> { entries.keys }

    /// Returns a text that identifies a user and does not contain the name.
    func digest(of user: UserKey) -> String { Self.text(digest(Secret("user \(user.rowName)".utf8))) }

    /// Returns a hash that no password has.
    ///
    /// Each user name has its own one. Otherwise a password that was checked for one unknown name would be in the cache of checks for
    /// all of them, but not for users with a hash of their own.
    fileprivate func decoy(for user: UserKey) -> PasswordHash {
        func bytes(_ purpose: String) -> [UInt8] { Array(digest(Secret("\(purpose) \(user.rowName)".utf8))) }
        return PasswordHash(decoySalt: Array(bytes("decoy salt").prefix(16)), hash: Secret(bytes("decoy hash")))
    }

    fileprivate func digest(_ password: Secret) -> HMAC<SHA256>.MAC { Self.digest(password, key: key) }

    private static func digest(_ password: Secret, key: Secret) -> HMAC<SHA256>.MAC {
        password.withUnsafeBytes { HMAC<SHA256>.authenticationCode(for: $0, using: key.key) }
    }

    fileprivate func fingerprints(_ entry: Entry) -> EntryFingerprints {
        let password: JSONValue =
            switch entry.password {
            case .digest(let digest): .string(Self.text(digest))
            case .hash(let hash): .string(hash.text)
            case .missing: .null
            }
        return EntryFingerprints(
            password: fingerprint(password), claims: fingerprint(.object(entry.claims)),
            isLocked: fingerprint(.bool(entry.isLocked)),
            answers: fingerprint(.object(entry.answers.mapValues { .string(Self.text($0)) })))
    }

    private func fingerprint(_ part: JSONValue) -> String {
        Self.text(HMAC<SHA256>.authenticationCode(for: JSON.encode(part), using: key.key))
    }

    private static func text(_ mac: HMAC<SHA256>.MAC) -> String { mac.withUnsafeBytes { Base64.encode($0, as: .url) } }
}

extension UserRecord {
    /// Returns the configured user with the stored changes to the parts whose configuration hasn't changed since.
    fileprivate func changed(as changed: UserRecord, unless fingerprints: EntryFingerprints) -> UserRecord {
        var record = self
        record.acceptedTerms = changed.acceptedTerms
        record.generation = changed.generation
        record.attributes = changed.attributes
        record.loginCount = changed.loginCount
        if changed.fingerprints?.password == fingerprints.password { record.password = changed.password }
        if changed.fingerprints?.claims == fingerprints.claims { record.claims = changed.claims }
        if changed.fingerprints?.isLocked == fingerprints.isLocked { record.isLocked = changed.isLocked }
        if changed.fingerprints?.answers == fingerprints.answers { record.answers = changed.answers }
        return record
    }
}

/// The users that can log in: those in the configuration, and those that journeys have created.
struct Directory {
    let configuredUsers: ConfiguredUsers
    /// The users that journeys have created.
    var records: Table<UserKey, UserRecord>
    /// The changes to users in the configuration.
    private var changes: Table<UserKey, UserRecord>
    private let transaction: RowCache

    init(_ configuredUsers: ConfiguredUsers, _ transaction: RowCache) {
        self.configuredUsers = configuredUsers
        self.transaction = transaction
        records = Table(.user, transaction)
        changes = Table(.changedUser, transaction)
    }

    /// Returns true for a user that the configuration makes an administrator.
    ///
    /// Users that journeys create have no such rights.
    func isAdministrator(_ user: UserKey) -> Bool { configuredUsers.entries[user]?.isAdministrator ?? false }

    func contains(_ user: UserKey) throws -> Bool { try self[user] != nil }

    /// Returns the user whose name was typed, without regard to case and to spaces around it, as in AM.
    ///
    /// The user with exactly this name comes first. It is nil for an unknown name, and for one that several users have in other
    /// cases.
    func user(named text: String, in realm: RealmPath) throws -> UserKey? {
        let user = UserKey(realm: realm, name: String(text.trimming(" ")))
        guard try !contains(user) else { return user }
        let configured = configuredUsers.byFoldedName[user.folded] ?? []
        let found = try Set(configured + records.group(Self.group(of: user)).map(\.user))
        return found.count == 1 ? found.first : nil
    }

    /// Returns the group of the stored users whose names differ in case only.
    private static func group(of user: UserKey) -> String { "name \(user.folded.rowName)" }

    /// Stores a user that a journey has created.
    private mutating func store(_ record: UserRecord) {
        records.insert(record, for: record.user, group: Self.group(of: record.user))
    }

    /// Returns true when a user exists, isn't locked and has had no new password since a login.
    ///
    /// Otherwise the sessions and tokens of that login are invalid. Each use of them checks this, so that they need no cleanup when
    /// a user is removed from the configuration file.
    /// - Parameters:
    ///   - user: The user.
    ///   - generation: The user's ``generation(of:)`` at the login.
    /// - Returns: True when sessions and tokens of the login are valid.
    /// - Throws: The error of a row that cannot be read, or of the store.
    func isActive(_ user: UserKey, since generation: String?) throws -> Bool {
        try self[user].map { !$0.isLocked && $0.generation == generation } ?? false
    }

    /// Returns the id of the user's present password; nil for the password of the configuration, and for an unknown user.
    func generation(of user: UserKey) throws -> String? { try self[user]?.generation }

    subscript(user: UserKey) -> UserRecord? {
        get throws {
            guard let entry = configuredUsers.entries[user] else { return try records[user] }
            let configured = UserRecord(user: user, password: .configured, claims: entry.claims, isLocked: entry.isLocked)
            return try changes[user].map { configured.changed(as: $0, unless: configuredUsers.fingerprints(entry)) } ?? configured
        }
    }

    /// Changes a user.
    ///
    /// A user that does not exist stays absent.
    mutating func update(_ user: UserKey, _ change: (inout UserRecord) -> Void) throws {
        guard var record = try self[user] else { return }
        change(&record)
        guard let entry = configuredUsers.entries[user] else { return store(record) }
        record.fingerprints = configuredUsers.fingerprints(entry)
        changes.insert(record, for: user)
    }

    /// Returns at most `limit` users, sorted by realm and name within the selection.
    func users(_ limit: Int) throws -> [UserKey] {
        func isBefore(_ one: UserKey, _ other: UserKey) -> Bool {
            (one.realm.description, one.name) < (other.realm.description, other.name)
        }
        // Don't sort a large configuration of which only a few users are listed.
        let configured =
            configuredUsers.entries.count > 10 * limit
            ? Array(configuredUsers.entries.keys.prefix(limit)) : Array(configuredUsers.entries.keys)
        let made = try records.page(after: nil, limit).map(\.value.user).filter { configuredUsers.entries[$0] == nil }
        return Array((configured + made).sorted(by: isBefore).prefix(limit))
    }

    /// Returns the number of users.
    ///
    /// At most `limit` users that journeys have created are counted.
    func count(limit: Int) throws -> Int { try configuredUsers.entries.count + records.count(limit: limit) }

    /// Checks a user's password.
    ///
    /// A wrong password costs one run of scrypt for every user, also for one that does not exist or has no hash. Otherwise the time
    /// of a response would reveal which users exist.
    mutating func accepts(_ password: Secret, of user: UserKey) throws -> Bool {
        let offered = configuredUsers.digest(password)
        switch try self[user]?.password {
        case .hash(let hash): return try transaction.accepts(password, hash)
        case .configured:
            switch configuredUsers.entries[user]?.password {
            case .digest(let digest): return try Self.areEqual(offered, digest) || refuse(password, of: user)
            case .hash(let hash): return try transaction.accepts(password, hash)
            case .missing, nil: return try refuse(password, of: user)
            }
        case .missing, nil: return try refuse(password, of: user)
        }
    }

    /// Returns the generated password of a user; nil when the user has another password.
    func generatedPassword(of user: UserKey) throws -> Secret? {
        guard case .configured? = try self[user]?.password else { return nil }
        return configuredUsers.entries[user]?.generatedPassword
    }

    /// Checks a password against a hash that no password has, and returns false.
    private func refuse(_ password: Secret, of user: UserKey) throws -> Bool {
        _ = try transaction.accepts(password, configuredUsers.decoy(for: user))
        return false
    }

    /// Creates a user.
    ///
    /// Returns false when the name is taken.
    mutating func add(_ user: UserKey, password: Secret, claims: [String: JSONValue]) throws -> Bool {
        guard try !contains(user) else { return false }
        let hash = try transaction.hash(of: password, for: user.rowName)
        store(UserRecord(user: user, password: .hash(hash), claims: claims, generation: RandomID.token()))
        return true
    }

    /// Creates a user that cannot log in with a password.
    mutating func addWithoutPassword(_ user: UserKey) {
        store(UserRecord(user: user, password: .missing))
    }

    /// Replaces a user's password.
    ///
    /// The old password stops working, and the sessions and tokens of earlier logins become invalid.
    mutating func setPassword(_ password: Secret, of user: UserKey) throws {
        let hash = try transaction.hash(of: password, for: user.rowName)
        try update(user) {
            $0.password = .hash(hash)
            $0.generation = RandomID.token()
        }
    }

    /// Makes a user of the configuration a new one: without the changes to an earlier user of the same name, whose sessions and tokens
    /// become invalid.
    mutating func remake(_ user: UserKey) throws {
        changes.discard(user)
        try update(user) { $0.generation = RandomID.token() }
    }

    mutating func setLocked(_ isLocked: Bool, _ user: UserKey) throws { try update(user) { $0.isLocked = isLocked } }

    mutating func acceptTerms(_ version: String, _ user: UserKey) throws { try update(user) { $0.acceptedTerms = version } }

    mutating func merge(_ claims: [String: JSONValue], into user: UserKey) throws {
        try update(user) { $0.claims.merge(claims) { $1 } }
    }

    /// Returns true when the user has a password.
    func hasPassword(_ user: UserKey) throws -> Bool {
        switch try self[user]?.password {
        case .hash: return true
        case .configured:
            guard case .missing? = configuredUsers.entries[user]?.password else { return true }
            return false
        case .missing, nil: return false
        }
    }

    // MARK: Security questions

    /// Returns the user's security questions in alphabetical order.
    func questions(of user: UserKey) throws -> [String] {
        guard let record = try self[user] else { return [] }
        return Set(record.answers.keys).union(configuredUsers.entries[user]?.answers.keys.map { $0 } ?? []).sorted()
    }

    /// Stores hashes of answers to questions.
    ///
    /// Case and surrounding spaces are ignored. Blank answers are not stored.
    mutating func keep(_ answers: [String: Secret], of user: UserKey) throws {
        for (question, answer) in answers where !answer.isBlank {
            let hash = try transaction.hash(of: answer.folded, for: "\(user.rowName)\n\(question)")
            try update(user) { $0.answers[question] = hash }
        }
    }

    /// Checks an answer of a user.
    ///
    /// A blank answer is always rejected, even when an earlier version has stored one.
    func accepts(_ answer: Secret, to question: String, of user: UserKey) throws -> Bool {
        guard !answer.isBlank else { return false }
        if let hash = try self[user]?.answers[question] { return try transaction.accepts(answer.folded, hash) }
        return Self.areEqual(
            configuredUsers.digest(answer.folded),
            configuredUsers.entries[user]?.answers[question] ?? configuredUsers.unknownUserDigest)
    }

    private static func areEqual(_ offered: HMAC<SHA256>.MAC, _ expected: HMAC<SHA256>.MAC) -> Bool {
        offered.withUnsafeBytes { offered in expected.withUnsafeBytes { ConstantTime.areEqual(offered, $0) } }
    }
}

extension Secret {
    /// True when the text is empty or contains only white space, control characters or invisible characters.
    var isBlank: Bool { String(decoding: bytes, as: UTF8.self).isBlank }

    /// The text in lowercase and without surrounding spaces.
    fileprivate var folded: Secret {
        Secret(String(decoding: bytes, as: UTF8.self).lowercased().trimming(" \t").utf8)
    }
}
