import Foundation
import PingOrchestrate
import SignetCore
import Testing

/// A server that answers each request with the path of its address and the value of one header field.
private struct Echo: HTTPTransport {
    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        let text = #"{"path":"\#(request.url.split(separator: "/").last ?? "")","tag":"\#(request.headers["x-tag"] ?? "")"}"#
        return HTTPResponse(status: 200, headers: ["Set-Cookie": "a=b; Path=/"], body: Array(text.utf8))
    }

    func stream(
        _ request: HTTPRequest, receive: ContentReceiver
    ) async throws -> HTTPResponse { try await send(request) }
}

private final class Step: ContinueNode {
    override func asRequest() -> Request { Request(urlString: "https://example.com/second") }
}

private final class Count: Sendable {
    private let value = Mutex(0)
    func add(_ number: Int) { value.withLock { $0 += number } }
    var total: Int { value.withLock { $0 } }
}

private struct Failure: Error {}

@Suite("Workflows under the Ping SDK's names")
struct WorkflowTests {
    private static let steps = Module.of(setup: { setup in
        let workflow = setup.workflow
        setup.transform { context, response in
            let json = try response.json()
            if json["path"] as? String == "first" {
                return Step(context: context, workflow: workflow, input: json, actions: [])
            }
            return SuccessNode(input: json, session: EmptySession())
        }
    })

    private func workflow(_ configure: (WorkflowConfig) -> Void = { _ in }) -> Workflow {
        Workflow.createWorkflow { config in
            config.httpClient = HttpClient(transport: Echo())
            config.module(Self.steps)
            configure(config)
        }
    }

    @Test("Modules change the requests, and a step leads to the end")
    func runsSteps() async throws {
        let workflow = workflow { $0.module(CustomHeader.config) { $0.header(name: "x-tag", value: "t") } }
        let step = try #require(await workflow.start(Request(urlString: "https://example.com/first")) as? ContinueNode)
        #expect(step.input["tag"] as? String == "t")
        let end = try #require(await step.next() as? SuccessNode)
        #expect(end.input["path"] as? String == "second" && end.input["tag"] as? String == "t")
    }

    static let modes: [(mode: OverrideMode, total: Int)] = [(.override, 2), (.append, 3), (.ignore, 1)]

    @Test("A module that is registered twice runs by the mode of the second registration", arguments: modes)
    func registersByMode(row: (mode: OverrideMode, total: Int)) async throws {
        let count = Count()
        let module = Module.of(Number.init) { setup in
            let config = setup.config
            setup.initialize { count.add(config.number) }
        }
        let workflow = workflow { config in
            config.module(module) { $0.number = 1 }
            config.module(module, mode: row.mode) { $0.number = 2 }
        }
        try await workflow.initialize()
        try await workflow.initialize()
        #expect(count.total == row.total)
    }

    private final class Number: Sendable {
        private let value = Mutex(0)
        var number: Int {
            get { value.withLock { $0 } }
            set { value.withLock { $0 = newValue } }
        }
    }

    @Test("The error of a module is a failure state, and the next start runs the modules again")
    func reportsErrorsOfModules() async throws {
        let count = Count()
        let module = Module.of(setup: { setup in
            setup.initialize {
                count.add(1)
                if count.total == 1 { throw Failure() }
            }
        })
        let workflow = workflow { $0.module(module) }
        let first = await workflow.start(Request(urlString: "https://example.com/end"))
        #expect((first as? FailureNode)?.cause is Failure)
        let second = await workflow.start(Request(urlString: "https://example.com/end"))
        #expect(second is SuccessNode)
    }

    @Test("A workflow sends nothing to a plain http address of another machine, unless the settings name the host")
    func sendsNoWorkflowOverPlainHTTP() async {
        let request = { Request(urlString: "http://example.com/end") }
        let refused = await workflow().start(request())
        #expect(refused is FailureNode)
        let allowed = await workflow { $0.plainHTTPHosts = ["example.com"] }.start(request())
        #expect(allowed is SuccessNode)
    }

    @Test("A request has the method, the address, the header fields and the content that are set")
    func buildsRequests() throws {
        let request = Request(urlString: "https://example.com/a")
        #expect(request.getMethod() == "GET")
        request.parameter(name: "q", value: "1 2")
        request.header(name: "X-One", value: "1")
        request.form(formData: ["b": "x&y", "a": "1"])
        let made = request.urlRequest
        #expect(made.url?.absoluteString == "https://example.com/a?q=1%202" && made.httpMethod == "POST")
        #expect(made.value(forHTTPHeaderField: "x-one") == "1")
        #expect(made.value(forHTTPHeaderField: "Content-Type") == "application/x-www-form-urlencoded")
        #expect(made.httpBody == Data("a=1&b=x%26y".utf8))
        request.body(body: ["k": ["v", 1]])
        request.method(.put)
        #expect(request.urlRequest.httpBody == Data(#"{"k":["v",1]}"#.utf8) && request.getMethod() == "PUT")
    }

    @Test("A response has the status, the JSON, the header fields and the cookies of the server")
    func readsResponses() async throws {
        let (data, response) = try await HttpClient(transport: Echo()).sendRequest(
            request: Request(urlString: "https://example.com/x"))
        let read = HttpResponse(data: data, response: response)
        let json = try read.json()
        #expect(read.status() == 200 && json["path"] as? String == "x")
        let cookie = try #require(read.getCookies().first)
        #expect(cookie.name == "a" && cookie.value == "b" && cookie.domain == "example.com")
        let stored = CustomHTTPCookie(from: cookie).toHTTPCookie()
        #expect(stored?.name == "a" && stored?.domain == "example.com")
    }

    @Test("A shared context keeps values by name")
    func keepsValues() {
        let context = SharedContext()
        #expect(context.isEmpty)
        context.set(key: "a", value: 1)
        #expect(context.get(key: "a") as? Int == 1)
        let removed = context.removeValue(forKey: "a") as? Int
        #expect(removed == 1 && context.get(key: "a") == nil)
    }
}
