import SignetAuthenticator
import SignetCore
import SignetStorage
import Synchronization

/// The app's own ``StorageClient``, with access for one caller at a time.
final class ClientBox: Sendable {
    private let state: Mutex<State>
    let token: TokenSlot
    private let sent = SentAnswers()

    private struct State {
        let client: any StorageClient
        /// The number of changes. Values that were read at another number may be out of date.
        var generation = 0
    }

    init(_ client: sending any StorageClient) {
        token = TokenSlot(client.getPushDeviceToken()?.kept)
        state = Mutex(State(client: client))
    }

    var generation: Int { state.withLock { $0.generation } }

    /// Runs `body` with exclusive access to the client. If `body` throws, its changes are undone.
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

/// A ``StorageClient`` as the engine's store, for one operation. Values that the operation has read or written are not read
/// again, unless another operation has changed the store.
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

/// The values that an operation has seen in a store.
struct Knowledge: Sendable {
    /// The number of changes of the store at which the values were seen.
    var generation = 0
    /// The accounts. A nil value means that the account is known not to exist.
    var accounts: [AccountID: SignetCore.Account?] = [:]
    /// The mechanisms. A nil value means that the mechanism is known not to exist.
    var mechanisms: [String: SignetCore.Mechanism?] = [:]
    /// The identifiers of an account's mechanisms, oldest first.
    var mechanismsOfAccount: [AccountID: [String]] = [:]
    /// The notifications. A nil value means that the notification is known not to exist.
    var notifications: [String: SignetCore.PushNotification?] = [:]

    mutating func note(_ mechanisms: [SignetCore.Mechanism], of account: AccountID) {
        for mechanism in mechanisms { self.mechanisms[mechanism.uid] = mechanism }
        mechanismsOfAccount[account] = mechanisms.map(\.uid)
    }

    /// Returns the stored value of a mechanism, with an inner nil if it is known not to exist; an outer nil if that is unknown.
    func mechanism(_ value: SignetCore.Mechanism) -> SignetCore.Mechanism?? {
        if let known = mechanisms[value.uid] { return .some(known) }
        return mechanismsOfAccount[value.account] == nil ? nil : .some(nil)
    }
}
