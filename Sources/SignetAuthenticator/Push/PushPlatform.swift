public import SignetCore
public import SignetNetwork

/// How push messages of one kind of server travel: what is sent to register, to answer and to renew the device's token, and
/// how a message is read. AM's is built in; an app that has other servers brings its own, under a name that its mechanisms
/// carry (`PushInvitation.platform`).
///
/// The engine around it stays the same: nothing is stored before ``open(_:for:)`` has returned, each message once, expired and
/// answered ones are refused before a request, and an answer is stored when ``send(_:to:of:over:)`` has returned.
public protocol PushPlatform: Sendable {
    /// The name that mechanisms of this platform carry.
    var name: String { get }

    /// Registers the device. Returns where the server's desk hands out messages, if it has one.
    /// - Throws: ``AuthenticatorError/Code/refusedByServer`` when the server said no, what `wire` throws, or errors of its own.
    func register(
        _ invitation: PushInvitation, mechanismUID: String, device: PushDevice, over wire: PushTransport
    ) async throws -> Endpoint?

    /// The mechanism that a message says it is for, unverified; nil when the message is not of this platform.
    func claimedMechanismUID(of delivery: PushDelivery) throws -> String?

    /// The content of a message, after it has proved to be from the mechanism's server.
    /// - Throws: `PushMessageError`, or an error of its own. The message is refused then.
    func open(_ delivery: PushDelivery, for mechanism: Mechanism) throws -> PushMessage

    /// Sends a person's answer. Returns when the server has accepted it.
    /// - Throws: ``AuthenticatorError/Code/refusedByServer`` when the server said no: it has not taken the answer then.
    func send(
        _ answer: PushAnswer, to notification: PushNotification, of mechanism: Mechanism, over wire: PushTransport) async throws

    /// Tells the server under which token the device is found now.
    /// - Throws: ``AuthenticatorError/Code/notSupported`` when the server has no way to be told,
    ///   ``AuthenticatorError/Code/refusedByServer`` when it said no.
    func update(_ device: PushDevice, of mechanism: Mechanism, over wire: PushTransport) async throws
}

extension PushPlatform {
    /// What the mechanisms of this platform carry: nil for AM's.
    package var mark: String? { name == AccessManagerPlatform.name ? nil : name }
}

/// The way of a platform's requests: through the app's interceptors, the transport, and past the clock.
public struct PushTransport: Sendable {
    let transport: any HTTPTransport
    let interceptors: [any RequestInterceptor]
    let clocks: ServerClocks

    /// Sends a request.
    /// - Parameters:
    ///   - request: What to send.
    ///   - action: What it is for; interceptors are told.
    ///   - server: Whose clock the answer's `Date` tells.
    /// - Throws: `TransportError`, or what an interceptor throws; nothing was sent then.
    public func send(_ request: HTTPRequest, for action: RequestAction, to server: Endpoint) async throws -> HTTPResponse {
        let intercepted: HTTPRequest
        do {
            intercepted = try await interceptors.intercept(request, for: action)
        } catch {
            throw NotSent(error: error)
        }
        return try await clocks.timed(server) { () async throws(TransportError) in try await transport.send(intercepted) }
    }
}

/// What happened before anything was sent, in an envelope: so it is told from what happened on the way.
struct NotSent: Error {
    let error: any Error

    /// Runs `body`, and takes what it throws out of its envelope.
    static func unwrapped<R>(_ body: () async throws -> R) async throws -> R {
        do {
            return try await body()
        } catch let notSent as NotSent {
            throw notSent.error
        }
    }
}
