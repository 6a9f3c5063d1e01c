/// What became of a push message on its way to a device: what a test looks at.
public struct PushReport: Sendable, Hashable {
    /// How far it has come.
    public enum Progress: Sendable, Hashable {
        /// It lies at the desk, where devices take it.
        case onStream
        /// It is on its way to SNS.
        case onItsWay
        /// SNS has it, and says that its id is this.
        case sent(id: String)
        /// It will not get there, and why.
        case undeliverable(reason: String)
    }

    /// The message's id.
    public let messageID: String
    /// How far it has come.
    public let progress: Progress
    /// Whether the device's answer came, and was taken.
    public let isAnswered: Bool
}

extension DevServer {
    /// The push messages that were sent to a user's present device, the newest last, as far as they are among the newest thousand.
    /// - Parameters:
    ///   - user: the user's name.
    ///   - realm: the realm the user lives in, as a path.
    /// - Throws: `StoreError` when the server's state cannot be read.
    public func pushes(to user: String, realm: String = "/") async throws -> [PushReport] {
        try await context.transact { state, moment in
            let device = state.devices.pushDevice(of: UserKey(realm: RealmPath(realm), name: user))
            return state.pushes.newest(1000, at: moment.now).filter { $0.mechanismUID == device?.mechanismUID }
                .sorted { $0.eventID < $1.eventID }
                .map { push in
                    PushReport(
                        messageID: push.messageID, progress: state.dispatches[push.messageID, at: moment.now].progress,
                        isAnswered: push.state != .waiting)
                }
        }
    }
}

extension PushDispatch? {
    /// How far the message has come; one that was never to go to SNS lies at the desk.
    var progress: PushReport.Progress {
        switch self?.state {
        case nil: .onStream
        case .waiting: .onItsWay
        case .sent(let id): .sent(id: id)
        case .failed(let reason): .undeliverable(reason: reason)
        }
    }
}
