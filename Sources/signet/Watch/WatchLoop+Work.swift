import Foundation
import SignetAuthenticator
import SignetCore
import SignetStorage

// What the view does beside drawing. All of it runs in tasks of its own and ends with an event, so that the view takes keys meanwhile.

extension WatchLoop {
    /// The seconds between two looks at the files of the vault.
    private static let checkSeconds: Double = 2

    private static func result<Value: Sendable>(_ body: () async throws -> Value) async -> Result<Value, Failure> {
        do {
            return .success(try await body())
        } catch {
            return .failure(Failure(error))
        }
    }

    // MARK: The vault

    /// Begins to read what has changed, if no reading is in progress.
    ///
    /// Without a change only the codes are read, when one has ended.
    mutating func readIfNeeded() {
        guard !isReading, !isRefused else { return }
        let (source, send, now) = (self.source, self.send, model.now)
        if isUrgent || isChangeDue(at: now) {
            let damagedCount = model.contents.damagedCount
            stamp = source.stamp()
            needsContents = !stamp.isSettled(at: now)
            (isReading, isUrgent, lastCheck) = (true, false, now)
            Task {
                let result: Result<WatchContents, Failure> = await Self.result {
                    var contents = try await source.contents(at: now, checksRecords: false)
                    contents.damagedCount = damagedCount
                    return contents
                }
                send.yield(.contents(result))
            }
        } else if model.needsCodes, model.problem == nil {
            isReading = true
            Task {
                let result: Result<[String: OneTimeCode], Failure> = await Self.result {
                    try await source.authenticator.currentCodes()
                }
                send.yield(.codes(result))
            }
        }
    }

    /// Returns true when the vault must be read, which is looked at once in two seconds.
    private mutating func isChangeDue(at now: Date) -> Bool {
        guard abs(now.timeIntervalSince(lastCheck)) >= Self.checkSeconds else { return false }
        lastCheck = now
        return needsContents || source.stamp() != stamp
    }

    mutating func take(contents result: Result<WatchContents, Failure>) {
        isReading = false
        switch result {
        case .success(let contents):
            model.take(contents)
            listen()
        case .failure(let failure): fail(failure)
        }
    }

    mutating func take(codes result: Result<[String: OneTimeCode], Failure>) {
        isReading = false
        switch result {
        case .success(let codes): model.take(codes)
        case .failure(let failure): fail(failure)
        }
    }

    private mutating func fail(_ failure: Failure) {
        needsContents = true
        switch failure.code {
        case "agent.locked":
            model.fail("The agent is locked. Unlock it in another terminal: signet unlock", isLocked: true)
        case "agent.refused":
            isRefused = true
            model.fail("The agent was not allowed to hand out codes. Press a key to ask again.", isLocked: true)
        case "agent.gone": model.fail("The agent has ended. Start it in another terminal: signet agent", isLocked: true)
        default: model.fail(failure.message, isLocked: false)
        }
    }

    // MARK: Copying

    /// Copies the code of an account; that of a counter is used up first.
    mutating func copy(_ id: String) {
        guard !isCopying else { return model.show("The code before is still being copied.") }
        guard let account = model.contents.accounts.first(where: { $0.id == id }) else { return }
        isCopying = true
        let (source, copier, send) = (self.source, self.copier, self.send)
        let (shown, now) = (account.code(at: model.now), model.now)
        Task {
            do {
                let code: OneTimeCode
                if let shown {
                    code = shown
                } else {
                    code = try await source.authenticator.code(for: id, period: .current)
                }
                var (validity, counterCode): (TerminalText, String?) = ("", nil)
                if let seconds = code.secondsLeft(at: now) {
                    validity = ", \(seconds) s left"
                } else {
                    counterCode = code.digits
                }
                let copied = Result { () throws(Failure) in try copier.put(code.digits, validity: validity) }
                send.yield(.copied(copied, counterCode: counterCode))
            } catch {
                send.yield(.copied(.failure(Failure(error)), counterCode: nil))
            }
        }
    }

    /// Shows how a code was copied, and the code itself if it was that of a counter, which cannot be made again.
    mutating func take(copied result: Result<CodeCopier.Copied, Failure>, _ counterCode: String?) {
        isCopying = false
        if counterCode != nil { isUrgent = true }
        let beginning = counterCode.map { "\(WatchAccount.grouped($0)): " } ?? ""
        switch result {
        case .success(let copied):
            if let child = copied.clearing { children.append(child) }
            model.show(beginning + copied.lines.map(\.description).joined(separator: " "))
        case .failure(let failure): model.show("\(beginning)not copied: \(failure.message)", isError: true)
        }
    }

    /// Takes the exit status of processes that have cleared the clipboard.
    mutating func reap() {
        children.removeAll { child in
            var status: Int32 = 0
            return waitpid(child, &status, WNOHANG) != 0
        }
    }

    // MARK: Push messages

    /// Sends the answer to a message.
    mutating func answer(
        _ id: String, _ answer: @escaping @Sendable (any VaultAuthenticator) async throws -> PushNotification
    ) {
        let (authenticator, send) = (source.authenticator, self.send)
        Task {
            let result: Result<PushNotification, Failure> = await Self.result { try await answer(authenticator) }
            send.yield(.answered(id: id, result))
        }
    }

    mutating func take(answer result: Result<PushNotification, Failure>, to id: String) {
        isUrgent = true
        let title = model.contents.messages.first { $0.id == id }?.title.text ?? "the login"
        switch result {
        case .success(let notification):
            model.endAnswer(id, isAccepted: true)
            model.show("\(notification.decision == .approved ? "Approved" : "Denied"): \(title)")
        case .failure(let failure):
            model.endAnswer(id, isAccepted: false)
            model.show("\(title): \(failure.message)", isError: true)
        }
    }

    /// Keeps one listener for each account that takes push messages, if this process listens.
    mutating func listen() {
        guard let listening else { return }
        let wanted = model.contents.pushTitles
        for (uid, listener) in listeners where wanted[uid] == nil {
            listener.cancel()
            listeners[uid] = nil
        }
        for uid in wanted.keys where listeners[uid] == nil {
            let (listener, send) = (WatchListener(session: listening, mechanismUID: uid), self.send)
            listeners[uid] = Task { await listener.run { event in send.yield(.listener(uid: uid, event)) } }
        }
    }

    mutating func take(_ event: WatchListener.Event, of uid: String) {
        let title = model.contents.pushTitles[uid]?.text ?? "push"
        switch event {
        case .connected: model.show("Listening for \(title).")
        case .received: isUrgent = true
        case .failed(let failure): model.show("\(title): \(failure.message)", isError: true)
        }
    }
}
