import Foundation
import SignetCore

/// A node that shows the QR code for a push registration and waits for the device.
///
/// With `withOATH`, it is AM's Combined MFA Registration, which registers push and one-time codes together.
struct PushRegistrationNode: Node {
    static let type = NodeType(
        "PushRegistrationNode", "Push Registration", "Shows the QR code for push and waits for the device."
    ) { Self(style: $0.enrollmentStyle(withCodes: false, withPush: true)) }

    var withOATH = false
    var style = EnrollmentStyle()

    var outcomes: [NodeOutcome] { [.successOutcome, .failureOutcome, .timeoutOutcome] }
    var interaction: Interaction { .ownPage }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        let time = tx.time
        guard case .registering(let messageID, var wait) = journey.memory else {
            return try begin(&journey, &tx)
        }
        guard let pending = try tx.registrations.entry(messageID) else { return .transition(.timeoutOutcome) }
        switch wait.poll(at: time.now) {
        case .spam: return .fail("polled too early too often")
        case .early: break
        case .due:
            if pending.isRegistered { return try finish(pending, &journey, &tx) }
            guard time.now < pending.deadline else { return .transition(.timeoutOutcome) }
            wait = self.wait(for: pending, time)
        }
        journey.memory = .registering(messageID: messageID, wait)
        return .prompt(page(pending, wait, tx))
    }

    private func begin(_ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        guard let user = journey.user, try tx.directory.contains(user),
            let pending = PendingRegistration(for: try tx.identified(user), style, withOATH: withOATH, tx.time)
        else { return .transition(.failureOutcome) }
        tx.registrations.add(pending, until: journey.expiresAt)
        let wait = wait(for: pending, tx.time)
        journey.memory = .registering(messageID: pending.messageID, wait)
        return .prompt(page(pending, wait, tx))
    }

    /// Generates the recovery codes and leaves the node.
    ///
    /// In a combined registration, the same codes are valid for both devices.
    private func finish(
        _ pending: PendingRegistration, _ journey: inout JourneyState, _ tx: inout ServerTransaction
    ) throws -> NodeResult {
        if style.generatesRecoveryCodes {
            let codes = RecoveryCodes.new(for: .push, withOATH ? "Push and OATH Device" : "Push Device")
            journey.recoveryCodes = codes
            try tx.devices.keep(codes, for: .push, of: pending.user)
            if withOATH { try tx.devices.keep(codes, for: .oath, of: pending.user) }
        }
        return .transition(.successOutcome)
    }

    private func wait(for pending: PendingRegistration, _ time: RequestTime) -> PollingWait {
        let timeout = style.timeout ?? time.configuration.pushLifetime
        let elapsed = Double(timeout) - pending.deadline.timeIntervalSince(time.now)
        return PollingWait(
            milliseconds: PollSchedule.milliseconds(elapsed: elapsed, timeout: timeout, fixed: time.configuration.pollInterval),
            from: time.now)
    }

    private func page(_ pending: PendingRegistration, _ wait: PollingWait, _ tx: ServerTransaction) -> Page {
        .enrollment(
            style.message.map { tx.text($0) } ?? "Scan the QR code, or open the link, with your authenticator.",
            uri: pending.uri.text,
            .wait(milliseconds: wait.milliseconds, message: "Waiting for your device to register"))
    }
}
