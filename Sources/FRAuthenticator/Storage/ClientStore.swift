import SignetAuthenticator
import SignetCore
import SignetStorage
import Synchronization

/// An app's own ``StorageClient``, owned: one caller at a time.
final class ClientBox: Sendable {
    private let state: Mutex<State>
    let token: TokenSlot
    private let sent = SentAnswers()

    private struct State {
        let client: any StorageClient
        /// How often anything was changed. What was known at another number may be out of date.
        var generation = 0
    }

    init(_ client: sending any StorageClient) {
        token = TokenSlot(client.getPushDeviceToken()?.kept)
        state = Mutex(State(client: client))
    }

    var generation: Int { state.withLock { $0.generation } }

    /// Lends the client to `body`, alone. What `body` changed before it threw is put back.
    fileprivate func transaction<R: Sendable>(
        knowing known: Knowledge, hidesUntoldToken: Bool, _ body: @Sendable (any AccountWriter) throws(StoreError) -> R
    ) -> (outcome: Result<R, StoreError>, known: Knowledge) {
        state.withLock { state in
            let records = ClientRecords(
                state.client, token: token, sent: sent, hidesUntoldToken: hidesUntoldToken,
                knowing: known.generation == state.generation ? known : Knowledge())
            let outcome: Result<R, StoreError>
            do throws(StoreError) {
                outcome = .success(try body(records))
            } catch {
                outcome = .failure(records.undo(after: error))
            }
            if records.hasCalledSetter { state.generation += 1 }
            var known = records.known
            if case .failure = outcome { known = Knowledge() }
            known.generation = state.generation
            return (outcome, known)
        }
    }
}

/// A ``StorageClient`` as the engine's store, for one operation: what was read or written in the operation is not asked for
/// again, as long as no other operation has changed anything.
final class ClientStore: ImmediateAccountStore {
    private let box: ClientBox
    private let known: Mutex<Knowledge>
    private let hidesUntoldToken: Bool

    init(_ box: ClientBox, knowing known: Knowledge = Knowledge(), hidesUntoldToken: Bool = false) {
        self.box = box
        self.hidesUntoldToken = hidesUntoldToken
        self.known = Mutex(known)
    }

    /// The number of changes at the end of the last transaction.
    var generation: Int { known.withLock { $0.generation } }

    func read<R: Sendable>(_ body: @Sendable (any AccountReader) throws(StoreError) -> R) throws(StoreError) -> R {
        try write { (records: any AccountWriter) throws(StoreError) in try body(records) }
    }

    func write<R: Sendable>(_ body: @Sendable (any AccountWriter) throws(StoreError) -> R) throws(StoreError) -> R {
        let (outcome, known) = box.transaction(
            knowing: self.known.withLock { $0 }, hidesUntoldToken: hidesUntoldToken, body)
        self.known.withLock { $0 = known }
        return try outcome.get()
    }
}

/// What an operation has seen of a store.
struct Knowledge: Sendable {
    /// The number of changes at which this was known.
    var generation = 0
    /// Nil inside: it is certain that there is none.
    var accounts: [AccountID: SignetCore.Account?] = [:]
    /// As ``accounts``.
    var mechanisms: [String: SignetCore.Mechanism?] = [:]
    /// The ids of an account's mechanisms, the oldest first.
    var mechanismsOfAccount: [AccountID: [String]] = [:]
    /// As ``accounts``.
    var notifications: [String: SignetCore.PushNotification?] = [:]

    mutating func note(_ mechanisms: [SignetCore.Mechanism], of account: AccountID) {
        for mechanism in mechanisms { self.mechanisms[mechanism.uid] = mechanism }
        mechanismsOfAccount[account] = mechanisms.map(\.uid)
    }

    /// Whether there is a mechanism, and which; nil when that is not known.
    func mechanism(_ value: SignetCore.Mechanism) -> SignetCore.Mechanism?? {
        if let known = mechanisms[value.uid] { return .some(known) }
        return mechanismsOfAccount[value.account] == nil ? nil : .some(nil)
    }
}
