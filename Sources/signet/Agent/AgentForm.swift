import Foundation
import SignetAuthenticator
import SignetCore
import SignetStorage

/// The JSON of values in the agent's results.
///
/// Accounts, mechanisms and messages have the form in which the vault stores them. A mechanism has no secret.
enum AgentForm {
    /// A result that the client cannot read.
    struct Unreadable: Error {}

    // MARK: Codes

    static func json(_ code: OneTimeCode) -> JSONValue {
        var members: [String: JSONValue] = ["code": .string(code.digits)]
        switch code.basis {
        case .time(let start, let end):
            members["start"] = .number(start.timeIntervalSinceReferenceDate)
            members["end"] = .number(end.timeIntervalSinceReferenceDate)
        case .counter(let counter): members["counter"] = .string(String(counter))
        }
        return .object(members)
    }

    static func code(_ json: JSONValue) throws -> OneTimeCode {
        let members = try self.members(json)
        let digits = try members.text("code")
        if let counter = try members.optionalText("counter") {
            guard let counter = UInt64(counter) else { throw Unreadable() }
            return OneTimeCode(digits: digits, basis: .counter(counter))
        }
        let start = Date(timeIntervalSinceReferenceDate: try members.number("start"))
        let end = Date(timeIntervalSinceReferenceDate: try members.number("end"))
        return OneTimeCode(digits: digits, basis: .time(start: start, end: end))
    }

    // MARK: Accounts

    /// Returns the form of an account.
    /// - Parameters:
    ///   - account: The account.
    ///   - withNote: False to put an empty text in the place of its note.
    /// - Returns: The form.
    static func json(_ account: EnrolledAccount, withNote: Bool) -> JSONValue {
        var stored = account.account.storedMembers
        // A member stays, because lists say which accounts have a note.
        if !withNote, account.account.note != nil { stored["note"] = .string("") }
        var members: [String: JSONValue] = [
            "account": .object(stored),
            "mechanisms": .array(account.mechanisms.map { .object(withoutSecret($0.storedMembers)) }),
        ]
        switch account.lock {
        case .manual(let policy): members["manualLock"] = .string(policy)
        case .byPolicy(let policy): members["policyLock"] = .string(policy)
        case nil: break
        }
        return .object(members)
    }

    static func account(_ json: JSONValue) throws -> EnrolledAccount {
        let members = try self.members(json)
        let lock: AccountLock?
        if let policy = try members.optionalText("manualLock") {
            lock = .manual(policy: policy)
        } else {
            lock = try members.optionalText("policyLock").map { .byPolicy($0) }
        }
        guard let mechanisms = members["mechanisms"]?.array else { throw Unreadable() }
        return EnrolledAccount(
            account: try Account(stored: members.object("account")),
            mechanisms: try mechanisms.map { try Mechanism(stored: self.members($0)) }, lock: lock)
    }

    /// Replaces the secret by one zero byte, because the stored form has one.
    private static func withoutSecret(_ members: [String: JSONValue]) -> [String: JSONValue] {
        var members = members
        members["secret"] = .string(Base64.encode([0], as: .standard))
        return members
    }

    // MARK: Messages and records

    static func notification(_ json: JSONValue) throws -> PushNotification { try PushNotification(stored: members(json)) }

    static func json(_ record: DamagedRecord) -> JSONValue {
        .object([
            "kind": .string(record.kind.rawValue), "code": .string(record.error.code.rawValue),
            "operation": .string(record.error.operation), "reason": .string(record.error.reason),
        ])
    }

    static func damagedRecord(_ json: JSONValue) throws -> DamagedRecord {
        let members = try self.members(json)
        guard let kind = RecordKind(rawValue: try members.text("kind")) else { throw Unreadable() }
        return DamagedRecord(
            kind: kind,
            error: StoreError(
                StoreError.Code(rawValue: try members.text("code")), try members.text("operation"), try members.text("reason")))
    }

    private static func members(_ json: JSONValue) throws -> JSONMembers {
        guard let object = json.object else { throw Unreadable() }
        return JSONMembers(object)
    }
}
