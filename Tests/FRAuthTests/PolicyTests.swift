import FRAuth
import FRCore
import Foundation
import SignetCore
import SignetNetwork
import SignetServer
import SignetTesting
import Testing

import class FRAuth.AccessToken
import class FRAuth.PolicyAdvice

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Policies of FRURLProtocol")
struct PolicyTests {
    private static let challenge =
        #"SSOADVICE realm="/",advices="eyJUcmFuc2FjdGlvbkNvbmRpdGlvbkFkdmljZSI6WyJ0MSJdfQ==",am_uri="https://am.example.com/am/""#
    private static let redirect =
        "https://am.example.com/am/?goto=x&authIndexType=composite_advice&authIndexValue=%3CAdvices%3E%3CAttributeValuePair%3E%3CAttribute%20name%3D%22TransactionConditionAdvice%22/%3E%3CValue%3Et1%3C/Value%3E%3C/AttributeValuePair%3E%3C/Advices%3E"

    @Test("Advice is read from an evaluation, from its members, from a redirect and from a challenge")
    func readsAdvice() throws {
        let members = ["TransactionConditionAdvice": ["t1"]]
        let found = [
            PolicyAdvice(json: ["advices": members, "ttl": 0, "actions": [Any]()]), PolicyAdvice(json: members),
            PolicyAdvice(redirectUrl: Self.redirect), PolicyAdviceCreator().parse(advice: Self.redirect),
            PolicyAdviceCreator().parseAsBase64(advice: Self.challenge),
            PolicyAdvice(type: "TransactionConditionAdvice", value: "t1"),
        ]
        for advice in found {
            let advice = try #require(advice)
            #expect(advice.type == .transactionCondition && advice.value == "t1" && advice.txId == "t1")
            #expect(advice.authIndexType == "composite_advice")
            #expect(
                advice.authIndexValue
                    == #"<Advices><AttributeValuePair><Attribute name="TransactionConditionAdvice"/><Value>t1</Value></AttributeValuePair></Advices>"#
            )
            #expect(advice == found[0])
        }
        let service = PolicyAdvice(type: "AuthenticateToServiceConditionAdvice", value: "/:StepUp")
        #expect(service?.type == .authenticateToService && service?.txId == nil && service != found[0])
    }

    @Test("Without advice of a known kind there is none")
    func refusesOtherAdvice() {
        let broken = Self.challenge.replacing("eyJUcm", with: "hLT")
        let cases: [PolicyAdvice?] = [
            PolicyAdvice(json: ["resource": "https://a.example", "actions": [Any](), "attributes": [Any](), "ttl": 0]),
            PolicyAdvice(json: ["advices": ["OtherAdvice": ["x"]]]), PolicyAdvice(redirectUrl: "https://am.example.com/am"),
            PolicyAdvice(redirectUrl: "not an address"),
            PolicyAdvice(redirectUrl: "https://am.example.com/am/?goto=x&authIndexType=composite_advice"),
            PolicyAdvice(redirectUrl: Self.redirect.replacing("&authIndexType=composite_advice", with: "")),
            PolicyAdvice(redirectUrl: Self.redirect.replacing("Value%3E", with: "ValueOne%3E")),
            PolicyAdvice(redirectUrl: Self.redirect.replacing("CAttribute%20", with: "CAttributeOne%20")),
            PolicyAdvice(redirectUrl: Self.redirect.replacing("%22Trans", with: "%/")), PolicyAdvice(type: "Other", value: "x"),
            PolicyAdviceCreator().parseAsBase64(advice: broken),
            PolicyAdviceCreator().parse(advice: "https://am.example.com/?authIndexValue=%"),
        ]
        for advice in cases { #expect(advice == nil) }
    }

    /// A delegate that keeps the names of its calls.
    private final class Delegate: AuthorizationPolicyDelegate, TokenManagementPolicyDelegate {
        private let calls = Mutex<[String]>([])
        let advice: PolicyAdvice?
        let follows: Bool
        var names: [String] { calls.withLock { $0 } }

        init(advice: PolicyAdvice? = nil, follows: Bool = true) { (self.advice, self.follows) = (advice, follows) }

        func evaluateAuthorizationPolicy(responseData: Data?, response: URLResponse?, error: (any Error)?) -> PolicyAdvice? {
            calls.withLock { $0.append("evaluate") }
            return advice
        }

        func onPolicyAdviseReceived(policyAdvice: PolicyAdvice, completion: @escaping FRCompletionResultCallback) {
            calls.withLock { $0.append("advice") }
            completion(follows)
        }

        func updateRequest(originalRequest: URLRequest, txId: String?) -> URLRequest {
            calls.withLock { $0.append("update") }
            var request = originalRequest
            request.setValue(txId, forHTTPHeaderField: "transactionId")
            return request
        }

        func evaluateTokenRefresh(responseData: Data?, response: URLResponse?, error: (any Error)?) -> Bool {
            calls.withLock { $0.append("refresh") }
            return (response as? HTTPURLResponse)?.statusCode == 401
        }
    }

    private func request(_ address: String) throws -> URLRequest { URLRequest(url: try #require(URL(string: address))) }

    @Test("A policy applies to its addresses: scheme, host, port and path")
    func matchesAddresses() throws {
        let urls = ["https://am.example.com/a", "https://ig.example.com:443/a"].compactMap { URL(string: $0) }
        let cases = [
            ("https://am.example.com/a", true), ("https://am.example.com:443/a?x=1", true), ("https://ig.example.com/a", true),
            ("https://am.example.com:8443/a", false), ("http://am.example.com/a", false), ("https://am.example.com/", false),
        ]
        for (address, applies) in cases {
            let request = try request(address)
            #expect(AuthorizationPolicy(validatingURL: urls).validateURL(request: request) == applies)
            #expect(TokenManagementPolicy(validatingURL: urls).validateURL(request: request) == applies)
        }
    }

    @Test("A request is repeated with the transaction's identifier in its query, or as the delegate wants")
    func updatesRequests() throws {
        let (plain, delegate) = (AuthorizationPolicy(validatingURL: []), Delegate())
        let first = try request("https://am.example.com/a?test=test")
        #expect(plain.updateRequest(originalRequest: first, txId: nil) == first)
        let confirmed = plain.updateRequest(originalRequest: first, txId: "t1")
        #expect(confirmed.url?.absoluteString == "https://am.example.com/a?test=test&_txid=t1")
        let own = AuthorizationPolicy(validatingURL: [], delegate: delegate)
        #expect(own.updateRequest(originalRequest: first, txId: nil) == first)
        #expect(own.updateRequest(originalRequest: first, txId: "t1").value(forHTTPHeaderField: "transactionId") == "t1")
        #expect(delegate.names == ["update", "update"])
    }

    @Test("Advice is found in the answer's head or body, else the delegate is asked")
    func evaluatesAnswers() throws {
        let url = try #require(URL(string: "https://am.example.com/a"))
        func head(_ status: Int, _ fields: [String: String] = [:]) -> HTTPURLResponse? {
            HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: fields)
        }
        let body = Data(#"[{"advices":{"AuthenticateToServiceConditionAdvice":["/:StepUp"]}}]"#.utf8)
        let delegate = Delegate(advice: PolicyAdvice(type: "TransactionConditionAdvice", value: "t9"))
        let policy = AuthorizationPolicy(validatingURL: [url], delegate: delegate)
        let cases: [(URLResponse?, Data?, String?)] = [
            (head(401, ["Www-Authenticate": Self.challenge]), nil, "t1"), (head(307, ["Location": Self.redirect]), nil, "t1"),
            (head(302, ["Location": Self.redirect]), nil, "t1"), (nil, body, "/:StepUp"),
            (nil, body.dropFirst().dropLast(), "/:StepUp"), (nil, Data("test".utf8), "t9"),
        ]
        for (response, data, value) in cases {
            #expect(policy.evaluateAuthorizationPolicy(responseData: data, response: response, error: nil)?.value == value)
        }
        #expect(delegate.names == ["evaluate"])
        let plain = AuthorizationPolicy(validatingURL: [url])
        #expect(plain.evaluateAuthorizationPolicy(responseData: Data("x".utf8), response: nil, error: nil) == nil)
        let advice = try #require(delegate.advice)
        let followed = Mutex<[Bool]>([])
        for policy in [plain, policy] {
            policy.onPolicyAdviceReceived(policyAdvice: advice) { result in followed.withLock { $0.append(result) } }
        }
        let results = followed.withLock { $0 }
        #expect(results == [false, true])
    }

    @Test("The token goes to the policy's addresses, is renewed once on the delegate's word, and a journey's advice is followed")
    func appliesPolicies() async throws {
        try await FRAuthFixture.with { fixture in
            let network = AsyncHTTPTransport()
            let transport = ScriptedTransport { (request) throws(TransportError) in
                guard request.url.hasPrefix("https://api.example.com") else { return try await network.send(request) }
                if request.url.contains("/step"), !request.url.contains("_txid") {
                    return HTTPResponse(status: 307, headers: ["Location": Self.redirect])
                }
                return HTTPResponse(status: request.url.contains("/never") ? 401 : 200)
            }
            try await fixture.program {
                $0.transport = transport
            } _: {
                try FRAuth.start(options: fixture.options)
                let user = try await logIn()
                let first = user.buildAuthHeader()
                let urls = ["https://api.example.com/a", "https://api.example.com/never"].compactMap { URL(string: $0) }
                let delegate = Delegate()
                #expect(!FRURLProtocol.canInit(with: try request("https://api.example.com/a")))
                FRURLProtocol.tokenManagementPolicy = TokenManagementPolicy(validatingURL: urls, delegate: delegate)
                FRURLProtocol.authorizationPolicy = AuthorizationPolicy(
                    validatingURL: [try #require(URL(string: "https://api.example.com/step"))], delegate: NoUpdate())
                #expect(FRURLProtocol.canInit(with: try request("https://api.example.com/a")))
                #expect(!FRURLProtocol.canInit(with: try request("https://other.example.com/a")))

                func sent() -> [HTTPRequest] { transport.requests.filter { $0.url.hasPrefix("https://api.example.com") } }
                let exchange = PolicyExchange(process: .current)
                let plain = try await exchange.answer(to: request("https://api.example.com/a")).get()
                #expect(plain.status == 200 && sent().last?.headers["Authorization"] == first)
                let refused = try await exchange.answer(to: request("https://api.example.com/never")).get()
                #expect(refused.status == 401 && delegate.names == ["refresh", "refresh", "refresh"])
                #expect(sent().suffix(2).first?.headers["Authorization"] == first)
                #expect(sent().last?.headers["Authorization"] == user.buildAuthHeader() && user.buildAuthHeader() != first)
                let confirmed = try await exchange.answer(to: request("https://api.example.com/step")).get()
                #expect(confirmed.status == 200 && sent().last?.url == "https://api.example.com/step?_txid=t1")
                #expect(sent().last?.headers["Authorization"] == nil)
                FRURLProtocol.tokenManagementPolicy = TokenManagementPolicy(validatingURL: urls, delegate: OwnHeader())
                _ = try await exchange.answer(to: request("https://api.example.com/a")).get()
                #expect(sent().last?.headers["Auth"] == user.buildAuthHeader() && sent().last?.headers["Authorization"] == nil)
            }
            await network.close()
        }
    }

    /// The reason of `NetworkError.invalidRequest`; nil for an answer and for another error.
    private static func refusal(_ answer: Swift.Result<HTTPResponse, any Error>) -> String? {
        guard case .failure(let error) = answer, case NetworkError.invalidRequest(let reason) = error else { return nil }
        return reason
    }

    @Test("A request in plain http is refused with the setting that allows it: nothing is sent, and no token is read")
    func keepsTokenFromPlainHTTP() async throws {
        var lifetimes = TokenLifetimes()
        lifetimes.accessToken = 60
        try await FRAuthFixture.with(lifetimes: lifetimes) { fixture in
            let network = AsyncHTTPTransport()
            let transport = ScriptedTransport { (request) throws(TransportError) in
                guard request.url.contains("//api.example.com") else { return try await network.send(request) }
                let isRedirect = request.url.contains("/step")
                return isRedirect ? HTTPResponse(status: 307, headers: ["Location": Self.redirect]) : HTTPResponse(status: 401)
            }
            try await fixture.program {
                $0.transport = transport
            } _: {
                try FRAuth.start(options: fixture.options)
                let user = try await logIn()
                let token = try #require(user.token)
                // The next call that reads the token renews it.
                fixture.clock.advance(by: 61)
                let addresses = ["http://api.example.com/a", "https://api.example.com/step", "https://api.example.com/a"]
                let urls = addresses.compactMap { URL(string: $0) }
                let delegate = Delegate()
                FRURLProtocol.tokenManagementPolicy = TokenManagementPolicy(validatingURL: urls, delegate: delegate)
                let exchange = PolicyExchange(process: .current)
                let sent = transport.requests.count
                let refused = try await exchange.answer(to: request("http://api.example.com/a?x=1"))
                let reason = try #require(Self.refusal(refused))
                #expect(reason.contains("FRAuth.allowPlainHTTP(to:)") && reason.contains("api.example.com"))
                #expect(transport.requests.count == sent && delegate.names.isEmpty && user.token == token)

                // A request of the authorization policy's delegate, and one with a token by that of the token policy.
                FRURLProtocol.tokenManagementPolicy = nil
                FRURLProtocol.authorizationPolicy = AuthorizationPolicy(validatingURL: urls, delegate: Downgrade())
                let repeated = try await exchange.answer(to: request("https://api.example.com/step"))
                #expect(Self.refusal(repeated) != nil)
                FRURLProtocol.authorizationPolicy = nil
                FRURLProtocol.tokenManagementPolicy = TokenManagementPolicy(validatingURL: urls, delegate: Downgrade())
                let updated = try await exchange.answer(to: request("https://api.example.com/a"))
                #expect(Self.refusal(updated) != nil)
                let inPlain = transport.requests.filter { $0.url.hasPrefix("http://api.example.com") }
                #expect(inPlain.isEmpty)

                FRAuth.allowPlainHTTP(to: ["api.example.com"])
                FRURLProtocol.tokenManagementPolicy = TokenManagementPolicy(validatingURL: urls)
                let allowed = try await exchange.answer(to: request("http://api.example.com/a")).get()
                #expect(allowed.status == 401)
                #expect(transport.requests.last?.headers["Authorization"] == user.buildAuthHeader())
            }
            await network.close()
        }
    }

    /// A delegate that moves requests to plain http.
    private final class Downgrade: AuthorizationPolicyDelegate, TokenManagementPolicyDelegate {
        private func downgraded(_ request: URLRequest) -> URLRequest {
            var request = request
            request.url = URL(string: "http://api.example.com/a")
            return request
        }

        func onPolicyAdviseReceived(policyAdvice: PolicyAdvice, completion: @escaping FRCompletionResultCallback) {
            completion(true)
        }

        func updateRequest(originalRequest: URLRequest, txId: String?) -> URLRequest { downgraded(originalRequest) }
        func updateRequest(originalRequest: URLRequest, token: AccessToken) -> URLRequest { downgraded(originalRequest) }
    }

    /// A delegate that sends the token in a header of its own.
    private final class OwnHeader: TokenManagementPolicyDelegate {
        func updateRequest(originalRequest: URLRequest, token: AccessToken) -> URLRequest {
            var request = originalRequest
            request.setValue(token.buildAuthorizationHeader(), forHTTPHeaderField: "Auth")
            return request
        }
    }

    /// A delegate with only the method that has no default.
    private final class NoUpdate: AuthorizationPolicyDelegate {
        func onPolicyAdviseReceived(policyAdvice: PolicyAdvice, completion: @escaping FRCompletionResultCallback) {
            completion(true)
        }
    }
}

@Suite("Archives of FRAuth's objects")
struct ArchiveTests {
    private func copy<T: NSObject & NSSecureCoding>(_ object: T) throws -> T {
        let data = try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
        return try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: T.self, from: data))
    }

    @Test("Tokens, the claims about a user and the user are equal after an archive and its reading")
    func archivesObjects() async throws {
        try await FRAuthFixture.with { fixture in
            try await fixture.started { try await archive(try await logIn()) }
        }
    }

    private func archive(_ user: FRUser) async throws {
        let token = try #require(user.token)
        let tokenCopy = try copy(token)
        #expect(tokenCopy == token)
        #expect(tokenCopy.buildAuthorizationHeader() == token.buildAuthorizationHeader())
        let session = try #require(FRSession.currentSession?.sessionToken)
        let sessionCopy = try copy(session)
        #expect(sessionCopy == session)
        let info = try await user.getUserInfo()
        let infoCopy = try copy(info)
        #expect(infoCopy == info)
        #expect(info.debugDescription.contains("Demo Person") && !info.emailVerified)
        let userCopy = try copy(user)
        #expect(userCopy == user && user == FRUser.currentUser)
        let bytes = try JSONEncoder().encode(token)
        let decoded = try JSONDecoder().decode(AccessToken.self, from: bytes)
        #expect(decoded == token)
        let secret = String(token.buildAuthorizationHeader().dropFirst(7))
        for text in [token.debugDescription, session.debugDescription, user.debugDescription] { #expect(!text.contains(secret)) }
    }
}
