import Foundation
import SignetCore
import SignetNetwork
import SignetOAuth

/// The addresses of the provider that a browser opens.
extension ScriptedProvider {
    /// Returns the request with which the browser leaves the authorization endpoint: a redirect, or the form of `form_post`.
    func authorize(_ address: String) -> HTTPRequest {
        let query = FormCoding.query(of: address)
        let target = query["redirect_uri"] ?? ""
        let fields = state.withLock { state -> [Field] in
            state.authorizations.append(query)
            state.faults += Self.faults(of: address, query)
            state.number += 1
            let code = "code-\(state.number)-x"
            state.codes[code] = query
            var fields: [Field] = [(name: "code", value: code), (name: "state", value: query["state"] ?? "")]
            state.behavior.answer(&fields)
            return fields
        }
        guard query["response_mode"] == "form_post" else {
            return HTTPRequest("GET", FormCoding.address(target, adding: fields))
        }
        return HTTPRequest(
            "POST", target, headers: ["Content-Type": "application/x-www-form-urlencoded", "Origin": Self.issuer],
            body: Array(FormCoding.encode(fields).utf8))
    }

    /// Returns what a conformance suite finds wrong with an authorization request.
    private static func faults(of address: String, _ query: [String: String]) -> [String] {
        let nonce = query["nonce"] ?? ""
        let isSafe = nonce.utf8.allSatisfy { $0.isASCIILetterOrDigit || "-._~".utf8.contains($0) }
        let checks: [(isRight: Bool, fault: String)] = [
            (address.hasPrefix("\(issuer)/authorize?"), "the request is not for the authorization endpoint"),
            (query["response_type"] == "code", "response_type is not code"),
            (query["client_id"] == clientID, "client_id is another"),
            (query["redirect_uri"]?.hasPrefix("http://127.0.0.1:") == true, "redirect_uri is another"),
            (query["scope"]?.split(separator: " ").contains("openid") == true, "scope does not contain openid"),
            (query["state"]?.isEmpty == false, "there is no state"),
            (!nonce.isEmpty && nonce.utf8.count <= 43 && isSafe, "nonce is missing, long, or has unsafe characters"),
            (query["code_challenge"]?.utf8.count == 43 && query["code_challenge_method"] == "S256", "PKCE is not S256"),
            (query["client_secret"] == nil, "the client secret is in an address"),
        ]
        return checks.filter { !$0.isRight }.map(\.fault)
    }

    /// Returns the address to which the browser is redirected at the end of its session.
    func logOut(_ address: String) -> String {
        let query = FormCoding.query(of: address)
        return state.withLock { state -> String in
            if !address.hasPrefix("\(Self.issuer)/endsession?") {
                state.faults.append("the request is not for the end-session endpoint")
            }
            return Self.endSession(query, &state)
        }
    }

    static func endSession(_ query: [String: String], _ state: inout State) -> String {
        state.logOuts.append(query)
        if !state.idTokens.contains(query["id_token_hint"] ?? "") {
            state.faults.append("id_token_hint is not an issued ID token")
        }
        if query["client_id"] != clientID { state.faults.append("client_id is another") }
        var fields: [Field] = []
        if let text = query["state"] { fields.append((name: "state", value: text)) }
        state.behavior.logOut(&fields)
        return FormCoding.address(query["post_logout_redirect_uri"] ?? "\(issuer)/bye", adding: fields)
    }
}
