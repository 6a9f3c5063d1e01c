package import Foundation
public import SignetCore
public import SignetNetwork

/// The protocol of push messages for one kind of server: the requests to register, to answer and to update the device token, and
/// the format of a message.
///
/// AM's protocol and privacyIDEA's are built in. An app with other servers adds its own platform under a name that its mechanisms
/// store (`PushInvitation.platform`).
///
/// The engine applies its usual rules. It stores a message once, and only after ``open(_:for:)`` has returned. It rejects answers
/// to expired and answered notifications before any request. It stores an answer after ``send(_:to:of:over:)`` has returned.
public protocol PushPlatform: Sendable {
    /// The platform name that mechanisms of this platform store.
    var name: String { get }

    /// Registers the device. Returns the address of the server's push stream, if it has one.
    /// - Throws: ``AuthenticatorError/Code/refusedByServer`` when the server has rejected the registration, errors of `transport`, or
    ///   errors of its own.
    func register(
        _ invitation: PushInvitation, mechanismUID: String, device: PushDevice, over transport: PushTransport
    ) async throws -> Endpoint?

    /// Registers the device, and returns all that the engine stores about the registration.
    ///
    /// The engine calls this method. By default it calls ``register(_:mechanismUID:device:over:)``, and the secret of the invitation
    /// stays that of the mechanism. A platform whose device or server makes a key in the registration implements this method.
    /// - Parameters:
    ///   - invitation: The values of the enrollment.
    ///   - mechanismUID: The id that the mechanism will have.
    ///   - device: The data of this device.
    ///   - transport: The transport for the requests.
    /// - Returns: The addresses and keys to store.
    /// - Throws: The errors of ``register(_:mechanismUID:device:over:)``.
    func registration(
        for invitation: PushInvitation, mechanismUID: String, device: PushDevice, over transport: PushTransport
    ) async throws -> PushRegistration

    /// Returns the id of the mechanism that a message names, unverified; nil when the message isn't one of this platform.
    func claimedMechanismUID(of delivery: PushDelivery) throws -> String?

    /// Returns the content of a message after verifying that it comes from the mechanism's server.
    /// - Throws: `PushMessageError`, or an error of its own; the engine then rejects the message.
    func open(_ delivery: PushDelivery, for mechanism: Mechanism) throws -> PushMessage

    /// Sends the user's answer. Returns after the server has accepted it.
    /// - Throws: ``AuthenticatorError/Code/refusedByServer`` only when the server has rejected the answer: the engine then knows
    ///   that the server has not accepted it.
    func send(
        _ answer: PushAnswer, to notification: PushNotification, of mechanism: Mechanism, over transport: PushTransport)
        async throws

    /// Sends the device's current token to the server.
    /// - Throws: ``AuthenticatorError/Code/notSupported`` when the server doesn't support token updates,
    ///   ``AuthenticatorError/Code/refusedByServer`` when it has rejected the token.
    func update(_ device: PushDevice, of mechanism: Mechanism, over transport: PushTransport) async throws
}

extension PushPlatform {
    /// Registers the device by ``register(_:mechanismUID:device:over:)``.
    public func registration(
        for invitation: PushInvitation, mechanismUID: String, device: PushDevice, over transport: PushTransport
    ) async throws -> PushRegistration {
        PushRegistration(
            streamEndpoint: try await register(invitation, mechanismUID: mechanismUID, device: device, over: transport))
    }

    /// The platform name that mechanisms of this platform store; nil for AM's platform.
    package var mark: String? { name == AccessManagerPlatform.name ? nil : name }
}

/// The result of a registration for push, which the engine stores with the mechanism.
public struct PushRegistration: Sendable, Hashable {
    /// The address of the server's push stream, if it has one.
    public var streamEndpoint: Endpoint?
    /// The secret of the mechanism; nil for that of the invitation.
    public var secret: Secret?
    /// The server's public key, in the encoding of the platform; nil for a platform without one.
    public var serverKey: [UInt8]?

    /// Creates a result.
    public init(streamEndpoint: Endpoint? = nil, secret: Secret? = nil, serverKey: [UInt8]? = nil) {
        self.streamEndpoint = streamEndpoint
        self.secret = secret
        self.serverKey = serverKey
    }
}

/// A push platform whose servers send nothing: the device asks for open messages.
package protocol PolledPushPlatform: PushPlatform {
    /// Asks the server once for the messages that can be answered.
    /// - Parameters:
    ///   - mechanism: The mechanism whose messages are wanted.
    ///   - time: The server's time, as far as it is known.
    ///   - transport: The transport for the request.
    /// - Returns: The messages, unverified; the same ones again as long as they can be answered.
    /// - Throws: `TransportError`; ``AuthenticatorError/Code/refusedByServer`` when asking again does not help, unless `time` was
    ///   wrong; ``AuthenticatorError/Code/serverMisbehaved``.
    func openMessages(for mechanism: Mechanism, at time: Date, over transport: PushTransport) async throws -> OpenPushMessages
}

/// The messages that can be answered, as a server lists them, and true when the list has all of them.
package typealias OpenPushMessages = (deliveries: [PushDelivery], isComplete: Bool)

/// The transport for the requests of a platform.
///
/// It calls the app's interceptors, sends the request, and updates the server's clock from the response.
public struct PushTransport: Sendable {
    let pipeline: RequestPipeline

    init(pipeline: RequestPipeline) {
        self.pipeline = pipeline
    }

    /// Creates a transport that updates no server's clock.
    package init(_ transport: any HTTPTransport, interceptors: [any RequestInterceptor] = []) {
        pipeline = RequestPipeline(transport, interceptors: interceptors)
    }

    /// Sends a request.
    /// - Parameters:
    ///   - request: The request to send.
    ///   - action: The purpose of the request, which interceptors receive.
    ///   - server: The server whose clock is updated from the `Date` header of the response.
    /// - Returns: The server's response, whatever its status is.
    /// - Throws: `TransportError`; or, when an interceptor throws, an internal error that wraps the interceptor's error. In the
    ///   second case nothing was sent. A platform must pass that error on unchanged: the authenticator unwraps it.
    public func send(_ request: HTTPRequest, for action: RequestAction, to server: Endpoint) async throws -> HTTPResponse {
        let prepared: HTTPRequest
        do {
            prepared = try await pipeline.prepare(request, for: action)
        } catch {
            throw NotSent(error: error)
        }
        return try await pipeline.send(prepared: prepared, for: action, to: server)
    }
}

/// A wrapper for an error that occurred before the request was sent.
///
/// It distinguishes such an error from one during or after the transmission.
struct NotSent: Error {
    let error: any Error

    /// Runs `body`, and throws the wrapped error if `body` throws a ``NotSent``.
    static func unwrapped<R>(_ body: () async throws -> R) async throws -> R {
        do {
            return try await body()
        } catch let notSent as NotSent {
            throw notSent.error
        }
    }
}
