import ArgumentParser
import SignetAuthenticator
import SignetCore
import SignetStorage

/// The listeners of `signet push listen`, one for each account that takes push messages.
///
/// Each listener has its own connections: a push stream occupies one, and a transport limits those to one server.
struct PushListening: Sendable {
    let session: Session
    /// The accounts with their push mechanisms; not empty.
    let selections: [Selection]
    /// True to end after the first message that waits for an answer, whatever its account.
    let once: Bool
    /// The time after which all listeners end, in seconds; nil for none.
    let seconds: Int?
    let json: Bool
    /// Becomes true with the message for `once`, so that no second one is shown.
    private let hasEnded = Mutex(false)

    init(_ session: Session, to selections: [Selection], once: Bool, seconds: Int?, json: Bool) {
        self.session = session
        self.selections = selections
        self.once = once
        self.seconds = seconds
        self.json = json
    }

    /// About 30 years, in seconds: close to the longest sleep that is possible.
    private static let maxWait = 1_000_000_000

    /// The end of one of the tasks.
    private enum End: Sendable {
        /// The message for `once` arrived.
        case complete
        /// The time is over.
        case timedOut(seconds: Int)
        /// The messages of one account can't be received.
        case failed(EnrolledAccount, Failure)
    }

    /// Thrown to end a listener after the message for `once`.
    private struct StopListening: Error {}

    /// Listens to all accounts until the task is canceled, the time is over, or the message for `once` arrives.
    ///
    /// The failure of one account is reported, and does not end the listeners of the others.
    /// - Throws: ``Failure`` of the last account, when none is left; with `once`, also when the time is over. `ExitCode` of the
    ///   first failure, when the time is over for the accounts that are left. `CancellationError`.
    func run() async throws {
        try await withThrowingTaskGroup(of: End.self) { group in
            defer { group.cancelAll() }
            for selection in selections { group.addTask { try await end(of: selection) } }
            if let seconds { group.addTask { try await timeout(seconds) } }
            var failures: [Failure] = []
            while let end = try await group.next() {
                switch end {
                case .complete: return
                case .timedOut(let seconds):
                    try endOfTime(seconds, after: failures.first)
                    return
                case .failed(let account, let failure):
                    failures.append(failure)
                    guard failures.count < selections.count else { throw failure }
                    let message = "\(account.shownName): \(failure.message); signet still listens for the other accounts"
                    Failure(failure.exit, failure.code, message, part: failure.part).show()
                }
            }
        }
    }

    private func timeout(_ seconds: Int) async throws -> End {
        try await Task.sleep(for: .seconds(min(seconds, Self.maxWait)))
        return .timedOut(seconds: seconds)
    }

    /// Ends the command when the time is over.
    /// - Parameters:
    ///   - seconds: The time that is over, in seconds.
    ///   - first: The failure of the first account that failed, whose line is printed already; nil when no account failed.
    /// - Throws: `ExitCode` of `first`; without it ``Failure`` with `once`.
    private func endOfTime(_ seconds: Int, after first: Failure?) throws {
        let timeout = Failure(.unavailable, "timeout", "no message came in \(seconds) seconds")
        guard let first else {
            if once { throw timeout }
            return
        }
        if once { timeout.show() }
        throw ExitCode(first.exit.rawValue)
    }

    private func end(of selection: Selection) async throws -> End {
        let account = selection.account
        do {
            try await session.online { authenticator in
                let listener = PushStreamListener(authenticator, mechanismUID: selection.mechanism.uid)
                try await listener.run { event in try show(event, of: account) }
            }
            return .complete
        } catch is StopListening {
            return .complete
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            return .failed(account, Failure(error))
        }
    }

    private func show(_ event: PushStreamListener.Event, of account: EnrolledAccount) throws {
        switch event {
        case .connected:
            let subject: TerminalText = selections.count > 1 ? " for \(account.shownName)" : ""
            if !json { Console.error("Listening\(subject). Interrupt with Ctrl-C.") }
        case .received(let notification):
            guard notification.state(at: session.now) == .pending else { return }
            let line = NotificationDescription(notification, of: [account], at: session.now).line(json: json)
            guard once else { return Console.line(line) }
            let isFirst = hasEnded.withLock { hasEnded in
                defer { hasEnded = true }
                return !hasEnded
            }
            if isFirst { Console.line(line) }
            throw StopListening()
        case .refused(let error):
            Console.error("signet: \(prefix(account))refused a message: \(Failure(error).message)")
        case .disconnected(let error, let pause):
            Console.error("signet: \(prefix(account))\(Failure(error).message); next try in \(pause)")
        }
    }

    /// Returns the beginning of a line about an account; empty when there is only one.
    private func prefix(_ account: EnrolledAccount) -> TerminalText {
        selections.count > 1 ? "\(account.shownName): " : ""
    }
}

extension Selection {
    /// Returns the push mechanisms of all accounts, or those of one account by its name.
    ///
    /// Says on standard error when records cannot be read, because messages of their accounts do not arrive.
    /// - Throws: ``Failure`` as of ``find(_:kinds:with:)``, also for a vault without a push mechanism.
    static func push(_ name: String?, with authenticator: any VaultAuthenticator) async throws -> [Selection] {
        if let name { return [try await find(name, kinds: [.push], with: authenticator)] }
        let all = try await authenticator.accounts().flatMap { account in
            account.mechanisms.filter { $0.kindName == .push }.map { Selection(account: account, mechanism: $0) }
        }
        // This throws the error for a vault without a push account, which names the damaged records.
        if all.isEmpty { return [try await find(nil, kinds: [.push], with: authenticator)] }
        let damaged = try await authenticator.damagedRecords()
        let damagedCount = damaged.filter { $0.kind == .account || $0.kind == .mechanism }.count
        if damagedCount > 0 {
            Console.error(
                "signet: warning: \(damagedCount.of("record")) cannot be read; accounts in them are left out (signet accounts)")
        }
        return all
    }
}
