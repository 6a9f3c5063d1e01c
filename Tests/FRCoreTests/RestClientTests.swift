import FRCore
import Foundation
import SignetCore
import SignetNetwork
import SignetTesting
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("FRCore network")
struct RestClientTests {
    /// An interceptor that sets a parameter, and remembers its calls.
    private final class Setting: FRCore.RequestInterceptor {
        let name: String
        let only: String?
        private let calls = Mutex<[String]>([])
        var log: [String] { calls.withLock { $0 } }

        init(_ name: String, only: String? = nil) {
            (self.name, self.only) = (name, only)
        }

        func intercept(request: Request, action: Action) -> Request {
            calls.withLock { $0.append("\(action.type) \(request.urlParams["last"] ?? "")") }
            guard only == nil || only == action.type else { return request }
            var parameters = request.urlParams
            parameters["last"] = name
            return Request(url: request.url, method: request.method, headers: request.headers, urlParams: parameters)
        }
    }

    private func with<R>(
        _ answer: HTTPResponse = HTTPResponse(status: 200, body: Array(#"{"a":1}"#.utf8)),
        _ body: (ScriptedTransport) async throws -> R
    ) async rethrows -> R {
        let transport = ScriptedTransport { _ in answer }
        return try await FRCoreProcess.$current.withValue(FRCoreProcess()) {
            RestClient.shared.setTransport(transport)
            return try await body(transport)
        }
    }

    private func invoke(_ request: Request, _ action: Action? = nil) async -> (members: [String]?, error: NetworkError?) {
        await withCheckedContinuation { continuation in
            RestClient.shared.invoke(request: request, action: action) { result in
                switch result {
                case .success(let members, let head):
                    continuation.resume(returning: (head == nil ? nil : members.keys.sorted(), nil))
                case .failure(let error): continuation.resume(returning: (nil, error as? NetworkError))
                }
            }
        }
    }

    @Test("Interceptors see a request with an action in order, each with the changes of the one before")
    func runsInterceptorsInOrder() async {
        await with { transport in
            let (one, two) = (Setting("one"), Setting("two"))
            RequestInterceptorRegistry.shared.registerInterceptors(interceptors: [one])
            RequestInterceptorRegistry.shared.registerInterceptors(interceptors: [two], shouldOverride: false)
            _ = await invoke(Request(url: "https://am.example.com/any", method: .GET), Action(type: .AUTHENTICATE))
            #expect(transport.requests.last?.url == "https://am.example.com/any?last=two")
            #expect(one.log == ["AUTHENTICATE "] && two.log == ["AUTHENTICATE one"])

            RequestInterceptorRegistry.shared.registerInterceptors(interceptors: [Setting("start", only: "START_AUTHENTICATE")])
            _ = RestClient.shared.invokeSync(
                request: Request(url: "https://am.example.com/any", method: .GET), action: Action(type: .AUTHORIZE))
            #expect(transport.requests.last?.url == "https://am.example.com/any")
            _ = RestClient.shared.invokeSync(
                request: Request(url: "https://am.example.com/any", method: .GET), action: Action(type: .START_AUTHENTICATE))
            #expect(transport.requests.last?.url == "https://am.example.com/any?last=start")
        }
    }

    @Test("Interceptors don't see a request without an action")
    func skipsInterceptors() async {
        await with { transport in
            let one = Setting("one")
            RequestInterceptorRegistry.shared.registerInterceptors(interceptors: [one])
            _ = await invoke(Request(url: "https://am.example.com/any", method: .GET))
            #expect(transport.requests.last?.url == "https://am.example.com/any" && one.log.isEmpty)
        }
    }

    @Test("An answer is a JSON object or an empty body, and its head; anything else is an error")
    func readsAnswers() async {
        let cases: [(HTTPResponse, [String]?, Int?)] = [
            (HTTPResponse(status: 200, body: Array(#"{"a":1}"#.utf8)), ["a"], nil), (HTTPResponse(status: 302), [], nil),
            (HTTPResponse(status: 200, body: Array("<html>".utf8)), nil, 5_000_003),
            (HTTPResponse(status: 401, body: Array(#"{"token":"s3cret"}"#.utf8)), nil, 5_000_010),
        ]
        for (answer, members, code) in cases {
            await with(answer) { _ in
                let outcome = await invoke(Request(url: "https://am.example.com/get", method: .GET))
                #expect(outcome.members == members && outcome.error?.code == code)
                let shown = "\(String(describing: outcome.error)) \(outcome.error?.errorUserInfo ?? [:])"
                #expect(!shown.contains("s3cret"))
            }
        }
    }

    @Test("An invalid address is refused, and plain http unless the app allowed the host; nothing is sent")
    func refusesAddresses() async {
        await with { transport in
            let unreadable = await invoke(Request(url: "invalid_request", method: .GET)).error
            #expect(unreadable?.code == 5_000_005)
            let plain = Request(url: "http://am.example.com:8081", method: .GET)
            let refused = await invoke(plain).error
            #expect(
                refused?.code == 5_000_005 && refused?.localizedDescription.contains("RestClient.allowPlainHTTP(to:)") == true)
            #expect(transport.requests.isEmpty)
            RestClient.shared.allowPlainHTTP(to: ["am.example.com"])
            let allowed = await invoke(plain)
            #expect(allowed.members == ["a"])
        }
    }

    @Test("Keys of a pinning handler go with each request; without any key none does")
    func pinsKeys() {
        FRCoreProcess.$current.withValue(FRCoreProcess()) {
            let process = FRCoreProcess.current
            for hashes in [["not a pin"], [], nil] as [[String]?] {
                let handler = FRURLSessionSSLPinningHandler(
                    frSecurityConfiguration: hashes.map { FRSecurityConfiguration(hashes: $0) })
                RestClient.shared.setURLSessionConfiguration(config: nil, handler: handler)
                #expect(process.pins.count == (hashes?.count ?? 0))
            }
        }
    }

    /// A protocol that remembers whether it was asked.
    private final class Asked: URLProtocol {
        override static func canInit(with request: URLRequest) -> Bool {
            request.value(forHTTPHeaderField: "x-test").map { $0 == "stub" } ?? false
        }

        override static func canonicalRequest(for request: URLRequest) -> URLRequest { request }

        override func startLoading() {
            guard let url = request.url,
                let head = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: ["a": "b"])
            else { return }
            client?.urlProtocol(self, didReceive: head, cacheStoragePolicy: .notAllowed)
            client?.urlProtocol(self, didLoad: Data(#"{"stub":true}"#.utf8))
            client?.urlProtocolDidFinishLoading(self)
        }

        override func stopLoading() {}
    }

    @Test("Requests go over a URLSession with the app's configuration and its protocol classes")
    func usesSessionConfiguration() async {
        await with { transport in
            let configuration = URLSessionConfiguration.ephemeral
            configuration.protocolClasses = [Asked.self]
            RestClient.shared.setURLSessionConfiguration(config: configuration)
            let outcome = await invoke(Request(url: "https://am.example.com/any", method: .GET, headers: ["x-test": "stub"]))
            #expect(outcome.members == ["stub"] && transport.requests.isEmpty)
        }
    }
}
