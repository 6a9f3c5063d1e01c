import SignetCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A node that shows the QR code for a push registration and waits for the device. With `withOATH`, it is AM's Combined MFA
/// Registration, which registers push and one-time codes together.
struct PushRegistrationNode: Node {
    var withOATH = false
    var style = EnrollmentStyle()

    var name: String { withOATH ? "CombinedMultiFactorRegistrationNode" : "PushRegistrationNode" }
    var outcomes: [NodeOutcome] { [.successOutcome, .failureOutcome, .timeoutOutcome] }
    var interaction: Interaction { .ownPage }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        let moment = visit.moment
        guard case .registering(let messageID, var wait) = journey.memory else {
            return begin(moment, &journey, &tx)
        }
        guard let pending = tx.registrations.entry(messageID, at: moment.now) else { return .transition(.timeoutOutcome) }
        switch wait.poll(at: moment.now) {
        case .spam: return .fail("polled too early too often")
        case .early: break
        case .due:
            if pending.isRegistered { return finish(pending, &journey, &tx) }
            guard moment.now < pending.deadline else { return .transition(.timeoutOutcome) }
            wait = self.wait(for: pending, moment)
        }
        journey.memory = .registering(messageID: messageID, wait)
        return .prompt(page(pending, wait))
    }

    private func begin(_ moment: RequestTime, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        guard let user = journey.user, tx.directory.contains(user),
            let pending = PendingRegistration(user: user, style, withOATH: withOATH, moment)
        else { return .transition(.failureOutcome) }
        tx.registrations.add(pending, until: journey.expiresAt)
        let wait = wait(for: pending, moment)
        journey.memory = .registering(messageID: pending.messageID, wait)
        return .prompt(page(pending, wait))
    }

    /// Generates the recovery codes and leaves the node. In a combined registration, the same codes are valid for both devices.
    private func finish(
        _ pending: PendingRegistration, _ journey: inout JourneyState, _ tx: inout ServerTransaction
    ) -> NodeResult {
        if style.generatesRecoveryCodes {
            let codes = RecoveryCodes.new(for: .push, withOATH ? "Push and OATH Device" : "Push Device")
            journey.recoveryCodes = codes
            tx.devices.keep(codes, for: .push, of: pending.user)
            if withOATH { tx.devices.keep(codes, for: .oath, of: pending.user) }
        }
        return .transition(.successOutcome)
    }

    private func wait(for pending: PendingRegistration, _ moment: RequestTime) -> PollingWait {
        let timeout = style.timeout ?? moment.configuration.pushLifetime
        let elapsed = Double(timeout) - pending.deadline.timeIntervalSince(moment.now)
        return PollingWait(
            milliseconds: PollSchedule.milliseconds(elapsed: elapsed, timeout: timeout, fixed: moment.configuration.pollInterval),
            from: moment.now)
    }

    private func page(_ pending: PendingRegistration, _ wait: PollingWait) -> Page {
        .enrollment(
            style.message ?? "Scan the QR code, or open the link, with your authenticator.", uri: pending.uri.text,
            .wait(milliseconds: wait.milliseconds, message: "Waiting for your device to register"))
    }
}

extension Page {
    /// Creates the page that shows a QR code, with its callbacks in AM's order (protocol/journey.md section 2.8).
    /// - Parameters:
    ///   - message: The text of the page.
    ///   - uri: The URI in the QR code.
    ///   - end: The last callback, with which the page continues.
    static func enrollment(_ message: String, uri: String, _ end: JourneyCallback) -> Page {
        // AM's pages draw the QR code with this script. SDKs ignore it and read the hidden value.
        let script = """
            window.QRCodeReader.createCode({
              id: "callback_0",
              text: "\(uri.scriptText)",
              version: "20",
              code: "L"
            });
            """
        return Page(callbacks: [
            .information(message), .text(script, type: 4), .hidden(id: "mfaDeviceRegistration", value: uri), end,
        ])
    }
}
