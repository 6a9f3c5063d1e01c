public import Foundation
public import SignetCore
import SignetJourney

/// A completion that is called once, with one of three: the journey's result, its next step, or an error.
///
/// All three are nil when the journey succeeds without a session. When the server sends an empty session, nothing is stored: the
/// result is a ``Token`` without a value, and a journey for an ``AccessToken`` or an ``FRUser`` fails with
/// ``AuthError/userAuthenticationRequired``, also while another user is logged in. It is called on the global executor of Swift's
/// tasks.
public typealias NodeCompletion<T: Sendable> = @Sendable (_ result: T?, _ node: sending Node?, _ error: (any Error)?) -> Void

/// A step of a journey: callbacks to show and to fill in, and a method that sends them.
public final class Node: NSObject {
    /// The callbacks, in the server's order.
    public var callbacks: [Callback]
    /// The server's token for the state of the journey.
    public var authId: String
    /// The identifier of this run of the journey, generated on the client.
    public var authServiceId: String
    /// The stage of the page, which AM 6.5 sends in the data of a ``MetadataCallback``.
    public var stage: String?
    /// The heading of the page.
    public var pageHeader: String?
    /// The text of the page.
    public var pageDescription: String?

    private let step: JourneyStep
    private let journey: LegacyJourney

    init(_ step: JourneyStep, of journey: LegacyJourney) throws {
        self.step = step
        self.journey = journey
        authId = step.authId
        authServiceId = journey.id
        (stage, pageHeader, pageDescription) = (step.pageStage, step.header, step.description)
        callbacks = try step.callbacks.map { try journey.factory.callback($0) }
        super.init()
        for case let protect as ProtectCallback in callbacks { protect.node = self }
    }

    /// The step with the values that the app filled in, and for each callback its place among the sent ones.
    private func filled() throws(AuthError) -> JourneyStep {
        var step = step
        step.authId = authId
        (step.stage, step.header, step.description) = (stage, pageHeader, pageDescription)
        step.callbacks = []
        for callback in callbacks {
            if let filled = try callback.filled() { step.callbacks.append(filled) }
        }
        return step
    }

    /// Fills in a step with the engine's functions for a whole step, such as those for a passkey, a device's key or a device's
    /// profile.
    ///
    ///     try await node.answer { try await $0.answerDeviceBinding(with: binding) }
    ///
    /// - Parameter body: Fills in the step. It may answer callbacks, but must not add or remove any.
    /// - Returns: The value that `body` returns.
    /// - Throws: The error of `body`; ``AuthError/invalidCallbackResponse(_:)`` when a class of the app returns no valid callback.
    public func answer<R>(_ body: (inout JourneyStep) async throws -> R) async throws -> R {
        let sent = try callbacks.filter { try $0.filled() != nil }
        let former = try filled()
        var step = former
        let result = try await body(&step)
        for (callback, (new, old)) in zip(sent, zip(step.callbacks, former.callbacks)) { callback.take(new, after: old) }
        return result
    }

    /// Sends the values that are filled in when this method is called.
    ///
    /// The node may be sent again after a failure.
    ///
    /// `T` is the type of the journey's result: a ``Token``, or a type that the process's session creates from one,
    /// ``AccessToken`` or ``FRUser``.
    public func next<T: Sendable>(completion: @escaping NodeCompletion<T>) {
        let (step, journey) = (Result { try filled() }, journey)
        journey.run(completion) { try await $0.next(try step.get(), of: journey.index, options: journey.options) }
    }

    /// Sends the values that are filled in; the journey's result is the user.
    public func nextWithUserCompletion(completion: @escaping NodeCompletion<FRUser>) { next(completion: completion) }
    /// Sends the values that are filled in; the journey's result is an access token.
    public func nextWithAccessTokenCompletion(completion: @escaping NodeCompletion<AccessToken>) {
        next(completion: completion)
    }
    /// Sends the values that are filled in; the journey's result is the session's token.
    public func nextWithTokenCompletion(completion: @escaping NodeCompletion<Token>) { next(completion: completion) }

    /// Sends the values that are filled in, and returns the next step or the result.
    /// - Throws: ``AuthError``, ``AuthApiError``, `NetworkError`.
    public func next<T: Sendable>(_ type: T.Type = T.self) async throws -> sending NodeResult<T> {
        let (step, journey) = (try filled(), journey)
        return try await journey.result { try await $0.next(step, of: journey.index, options: journey.options) }
    }
}

/// The outcome of a step.
public enum NodeResult<T: Sendable> {
    /// The journey continues with this step.
    case node(Node)
    /// The journey succeeded, with a result or, without a session, with nil.
    case success(T?)
}

/// A run of a journey, with the types of the ForgeRock SDK.
struct LegacyJourney: Sendable {
    let journeys: Journey
    let index: AuthenticationIndex
    let options: JourneyOptions
    let factory: CallbackFactory
    /// The session that the journey belongs to; nil without a started SDK, and then no session is stored.
    let session: LegacySession?
    let id = RandomID.uuid()

    /// Sends a request and converts its outcome.
    func result<T: Sendable>(
        _ request: @Sendable (Journey) async throws -> JourneyState
    ) async throws -> sending NodeResult<T> {
        do {
            try await session?.ready()
            switch try await request(journeys) {
            case .step(let step): return .node(try Node(step, of: self))
            case .loggedIn(let token):
                // Without this type, the result would be inferred as an optional, which no journey ends with.
                let result: T = try await result(of: token)
                return .success(result)
            case .completed(let end):
                guard end.hasEmptyToken else { return .success(nil) }
                let empty = SSOToken(value: Secret(text: ""), successURL: end.successURL, realm: end.realm)
                let result: T = try await result(of: empty)
                return .success(result)
            }
        } catch {
            throw LegacyErrors.error(error)
        }
    }

    /// Sends a request and calls the completion with its outcome.
    func run<T: Sendable>(
        _ completion: @escaping NodeCompletion<T>, _ request: @escaping @Sendable (Journey) async throws -> JourneyState
    ) {
        Self.report(to: completion) { try await result(request) }
    }

    private func result<T: Sendable>(of token: SSOToken) async throws -> T {
        if let session { return try await session.result(of: token, as: T.self) }
        guard let result = Token(token) as? T else { throw AuthError.invalidGenericType }
        return result
    }

    /// Calls the completion with the outcome of `body`.
    static func report<T: Sendable>(
        to completion: @escaping NodeCompletion<T>, _ body: @escaping @Sendable () async throws -> sending NodeResult<T>
    ) {
        Task {
            do {
                switch try await body() {
                case .node(let node): completion(nil, node, nil)
                case .success(let result): completion(result, nil, nil)
                }
            } catch {
                completion(nil, nil, error)
            }
        }
    }
}
