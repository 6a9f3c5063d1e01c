import SignetCore

/// A login flow with what its page needs besides.
struct ShownFlow: Sendable {
    var flow: LoginFlow
    /// The CSRF token of the page's form.
    let csrf: String
    /// The push message that the page waits for; nil for none.
    let push: PushWait?
    /// The fields of the page that ask for a code.
    let codes: CodeFields
}

extension ServerTransaction {
    /// Returns a flow with what its page needs besides.
    /// - Throws: `StoreError` when the state cannot be read.
    func shown(_ flow: LoginFlow) throws -> ShownFlow {
        guard case .open(let step, _) = flow.state else {
            return ShownFlow(flow: flow, csrf: csrf(of: flow.id, page: flow.page), push: nil, codes: .none)
        }
        return ShownFlow(
            flow: flow, csrf: csrf(of: flow.id, page: flow.page), push: try pushWait(in: step), codes: try codeFields(of: step))
    }

    /// Returns the flow with an id, with what its page needs besides; nil when it doesn't exist.
    /// - Throws: `StoreError` when the state cannot be read.
    func shownFlow(_ id: String) throws -> ShownFlow? { try flows[id].map { try shown($0) } }
}
