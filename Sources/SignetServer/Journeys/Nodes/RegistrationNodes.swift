import SignetCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Shows a QR code's content and waits for a device to register for push; with `withOATH`, AM's Combined MFA Registration,
/// for push and one-time codes together.
struct PushRegistrationNode: NodeKind {
    var withOATH = false
    var message = "Scan the QR code, or open the link, with your authenticator."

    var name: String { withOATH ? "CombinedMultiFactorRegistrationNode" : "PushRegistrationNode" }
    var outcomes: Set<NodeOutcome> { [.success, .failure, .timeOut] }

    func process(_ visit: NodeVisit, _ journey: inout JourneyState, _ desk: inout DeskState) -> NodeAction {
        let moment = visit.moment
        guard case .registering(let messageID, var wait) = journey.memory else {
            return begin(moment, &journey, &desk)
        }
        guard let pending = desk.registrations.entry(messageID, at: moment.now) else { return .leave(.timeOut) }
        switch wait.poll(at: moment.now) {
        case .spam: return .fail("polled too early too often")
        case .early: break
        case .due:
            if pending.isRegistered { return .leave(.success) }
            guard moment.now < pending.deadline else { return .leave(.timeOut) }
            wait = self.wait(for: pending, moment)
        }
        journey.memory = .registering(messageID: messageID, wait)
        return .ask(page(pending, wait))
    }

    private func begin(_ moment: Moment, _ journey: inout JourneyState, _ desk: inout DeskState) -> NodeAction {
        guard let user = journey.user, desk.directory.contains(user),
            let pending = PendingRegistration(user: user, withOATH: withOATH, moment)
        else { return .leave(.failure) }
        desk.registrations.add(pending, until: journey.expiresAt, at: moment.now)
        let wait = wait(for: pending, moment)
        journey.memory = .registering(messageID: pending.messageID, wait)
        return .ask(page(pending, wait))
    }

    private func wait(for pending: PendingRegistration, _ moment: Moment) -> PollingWait {
        let timeout = moment.configuration.pushLifetime
        let elapsed = Double(timeout) - pending.deadline.timeIntervalSince(moment.now)
        return PollingWait(
            milliseconds: PollSchedule.milliseconds(elapsed: elapsed, timeout: timeout, fixed: moment.configuration.pollInterval),
            from: moment.now)
    }

    private func page(_ pending: PendingRegistration, _ wait: PollingWait) -> Page {
        Page(callbacks: [
            .information(message),
            .hidden(id: "mfaDeviceRegistration", value: EnrollmentURI.print(pending.enrollment)),
            .wait(milliseconds: wait.milliseconds, message: "Waiting for your device to register"),
        ])
    }
}

/// Shows a QR code's content for one-time codes. The device is not saved: that is what ``OATHDeviceStorageNode`` does, after
/// ``OATHTokenVerifierNode`` has seen a code of it.
struct OATHRegistrationNode: NodeKind {
    /// A time-based device, or with `true` a counter-based one.
    var usesCounter = false
    var digits = OTPDigits.six
    var algorithm = OTPAlgorithm.sha1
    var message = "Scan the QR code, or open the link, with your authenticator. Then enter the code that it shows."

    var name: String { "OathRegistrationNode" }
    var outcomes: Set<NodeOutcome> { [.success, .failure] }

    func process(_ visit: NodeVisit, _ journey: inout JourneyState, _ desk: inout DeskState) -> NodeAction {
        if visit.answers != nil { return .leave(.success) }
        guard let user = journey.user, desk.directory.contains(user) else { return .leave(.failure) }
        let device = OATHDevice.new(usesCounter: usesCounter, digits: digits, algorithm: algorithm)
        journey.pendingOATH = device
        let configuration = visit.moment.configuration
        let enrollment = Enrollment(
            account: AccountID(issuer: configuration.issuer, accountName: user.name), oath: device.verifier.settings,
            oathResourceID: device.resourceID, userID: user.name, backgroundColor: configuration.backgroundColor)
        return .ask(
            Page(callbacks: [
                .information(message),
                .hidden(id: "mfaDeviceRegistration", value: EnrollmentURI.print(enrollment)),
                .confirmation("Next"),
            ]))
    }
}

/// Saves the device that ``OATHRegistrationNode`` made.
struct OATHDeviceStorageNode: NodeKind {
    var name: String { "OathDeviceStorageNode" }
    var outcomes: Set<NodeOutcome> { [.success, .failure] }

    func process(_ visit: NodeVisit, _ journey: inout JourneyState, _ desk: inout DeskState) -> NodeAction {
        guard let user = journey.user, var device = journey.pendingOATH else { return .leave(.failure) }
        device.registeredAt = visit.moment.now
        desk.devices.save(device, for: user)
        journey.pendingOATH = nil
        return .leave(.success)
    }
}

extension OATHDevice {
    static func new(usesCounter: Bool = false, digits: OTPDigits = .six, algorithm: OTPAlgorithm = .sha1) -> OATHDevice {
        let factor: MovingFactor = usesCounter ? .counter(next: 0) : .time(period: .thirtySeconds)
        let settings = OATHSettings(
            secret: Secret.random(byteCount: 20), algorithm: algorithm, digits: digits, factor: factor)
        return OATHDevice(verifier: OATHVerifier(settings: settings), resourceID: RandomID.uuid())
    }
}
