import SignetCore

/// The parts of the lists for testers that several addresses share.
enum ConsoleFacts {
    /// The maximum number of rows of a list.
    ///
    /// They are the newest ones.
    static let rows = 1000
    /// The number at which the counting of rows stops.
    static let maxCounted = 10_000

    /// A push message with its user and its delivery.
    struct PushRow: Sendable {
        let push: PushMessageRecord
        let progress: PushReport.Progress
        let user: UserKey?
        /// The number of open streams of the device.
        let streams: Int
        /// `waiting`, `approved`, `denied` or `expired`.
        let state: String

        init(_ push: PushMessageRecord, _ tx: ServerTransaction, _ streams: PushStreams) throws {
            self.push = push
            progress = try tx.dispatches[push.messageID].progress
            user = try tx.devices.pushDevice(mechanismUID: push.mechanismUID)?.owner
            self.streams = streams.count(push.mechanismUID)
            state = push.state == .waiting && push.deadline <= tx.now ? "expired" : "\(push.state)"
        }
    }
}
