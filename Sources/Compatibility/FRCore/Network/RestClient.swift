public import Foundation
import SignetCore
public import SignetNetwork
import SignetStorage

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// The client that sends requests through the registered interceptors.
///
/// The requests of `FRAuth` use the same network: the settings here apply to them too, and the pinned keys of its settings
/// (`sslPinningPublicKeyHashes`) to the requests here.
public final class RestClient: NSObject, Sendable {
    /// The client of this process.
    public static let shared = RestClient()

    override private init() {}

    /// Sends a request and calls the completion once.
    /// - Parameters:
    ///   - request: The request.
    ///   - action: The purpose for interceptors; nil for a request that interceptors don't see.
    ///   - completion: Gets the outcome.
    public func invoke(request: Request, action: Action? = nil, completion: @escaping ResultCallback) {
        let process = FRCoreProcess.current
        Task { completion(await CompletedRequest(request, action, process).result) }
    }

    /// Sends a request and blocks the calling thread until the answer is there.
    /// - Parameters:
    ///   - request: The request.
    ///   - action: The purpose for interceptors; nil for a request that interceptors don't see.
    /// - Returns: The outcome.
    public func invokeSync(request: Request, action: Action? = nil) -> Result {
        let process = FRCoreProcess.current
        return Blocking.wait { await CompletedRequest(request, action, process) }.result
    }

    /// Sends all later requests over a `URLSession` with this configuration.
    ///
    /// It sends no request with pinned keys. To pin keys, use ``setURLSessionConfiguration(config:handler:)``.
    public func setURLSessionConfiguration(config: URLSessionConfiguration) {
        setURLSessionConfiguration(config: config, handler: nil)
    }

    /// Sends all later requests over a `URLSession` with this configuration and delegate.
    ///
    /// With a ``FRURLSessionSSLPinningHandler`` that has keys, the SDK's own transport sends the requests and checks the keys;
    /// the configuration is then not used. Without both, the SDK's own transport sends them.
    public func setURLSessionConfiguration(config: URLSessionConfiguration?, handler: (any FRURLSessionHandlerProtocol)?) {
        let process = FRCoreProcess.current
        let pinning = handler as? FRURLSessionSSLPinningHandler
        if let security = pinning?.security, !security.hashes.isEmpty { return process.set(pins: security.pins) }
        guard config != nil || (handler != nil && pinning == nil) else { return process.set(nil) }
        let session = URLSession(
            configuration: config ?? .ephemeral, delegate: handler ?? FRURLSessionHandler(), delegateQueue: nil)
        process.set(SessionTransport(session: session))
    }

    /// Sends all later requests over a transport of the app; nil for the SDK's own one.
    public func setTransport(_ transport: (any HTTPTransport)?) { FRCoreProcess.current.set(transport) }

    /// Allows plain `http` to the hosts with these names, for test networks.
    ///
    /// Other machines in the network can read and change such requests. Without this call, plain `http` goes only to loopback addresses.
    public func allowPlainHTTP(to hosts: Set<String>) { FRCoreProcess.current.allowPlainHTTP(to: hosts) }
}

/// A request that was sent, and its outcome.
private struct CompletedRequest: Sendable {
    private let url: String
    private let outcome: Swift.Result<HTTPResponse, any Error>

    init(_ request: Request, _ action: Action?, _ process: FRCoreProcess) async {
        var request = request
        if let action {
            for interceptor in process.interceptors { request = interceptor.intercept(request: request, action: action) }
        }
        url = request.url
        let final = request
        outcome = await Swift.Result(of: {
            guard let message = final.message else {
                throw NetworkError.invalidRequest("\(final): the address is not a web address")
            }
            do throws(EndpointError) {
                _ = try Endpoint(message.url, policy: process.policy)
            } catch {
                let remedy = error.code == .plainHTTP ? "; RestClient.allowPlainHTTP(to:) allows it in a test network" : ""
                throw NetworkError.invalidRequest("\(final): \(error)\(remedy)")
            }
            return try await process.transport.deliver(message)
        })
    }

    /// The outcome in the form of the ForgeRock SDK.
    var result: Result {
        switch outcome {
        case .failure(let error as TransportError):
            return .failure(error: NetworkError.apiRequestFailure(nil, nil, error))
        case .failure(let error): return .failure(error: error)
        case .success(let answer):
            let fields = Dictionary(answer.headers.fields.map { ($0.name, $0.value) }, uniquingKeysWith: { "\($0),\($1)" })
            let head = URL(string: url).flatMap {
                HTTPURLResponse(url: $0, statusCode: answer.status, httpVersion: "HTTP/1.1", headerFields: fields)
            }
            return Response(data: Data(answer.body), response: head, error: nil).parseReponse()
        }
    }
}
