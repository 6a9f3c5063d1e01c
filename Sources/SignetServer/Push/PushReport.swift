/// The delivery status of a push message, for tests.
public struct PushReport: Sendable, Hashable {
    /// The progress of the delivery.
    public enum Progress: Sendable, Hashable {
        /// The message is available on the server's push stream.
        case onStream
        /// The message waits for delivery to SNS.
        case queued
        /// SNS accepted the message and assigned this id.
        case sent(id: String)
        /// The message cannot be delivered, for this reason.
        case undeliverable(reason: String)
    }

    /// The message's id.
    public let messageID: String
    /// The progress of the delivery.
    public let progress: Progress
    /// True when the device has sent a valid answer.
    public let isAnswered: Bool
}

extension DevServer {
    /// Returns the push messages that were sent to a user's current device, newest last.
    ///
    /// It searches the newest thousand messages of the server.
    /// - Parameters:
    ///   - user: The user's name.
    ///   - realm: The user's realm, as a path.
    /// - Returns: One report for each message; empty when the user has no push device.
    /// - Throws: `StoreError` when the server's state cannot be read.
    public func pushes(to user: String, realm: String = "/") async throws -> [PushReport] {
        try await context.store.read { tx in
            let device = try tx.devices.pushDevice(of: UserKey(realm: RealmPath(realm), name: user))
            return try tx.pushes.newest(1000).filter { $0.mechanismUID == device?.mechanismUID }
                .sorted { $0.eventID < $1.eventID }
                .map { push in
                    PushReport(
                        messageID: push.messageID, progress: try tx.dispatches[push.messageID].progress,
                        isAnswered: push.state != .waiting)
                }
        }
    }
}

extension PushDispatch? {
    /// The progress of the delivery.
    ///
    /// A message without a dispatch does not go through SNS and is available on the push stream.
    var progress: PushReport.Progress {
        switch self?.state {
        case nil: .onStream
        case .waiting: .queued
        case .sent(let id): .sent(id: id)
        case .failed(let reason): .undeliverable(reason: reason)
        }
    }
}
