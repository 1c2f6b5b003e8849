package openapi

import (
	"encoding/json"
	"testing"
)

const page = `{"id":"lnd_1","object":"landing","title":"a","slug":null,"url":null,"is_active":true,"note":null,` +
	`"group_id":null,"domain":null,"created_at":"2026-01-31T09:05:07.042Z","updated_at":"2026-01-31T09:05:07.042Z",` +
	`"of_a_newer_version":{"a":1},"widgets":[` +
	`{"id":"wgt_1","object":"widget","type":"heading","text":"Read"},` +
	`{"id":"wgt_2","object":"widget","type":"link","title":"a","url":"https://example.com/","thumbnail_url":null},` +
	`{"id":"wgt_3","object":"widget","type":"poll","votes":[1]}]}`

func TestAPageOfANewerVersionIsReadAndWrittenBack(t *testing.T) {
	var landing Landing
	if err := json.Unmarshal([]byte(page), &landing); err != nil {
		t.Fatal(err)
	}
	if landing.Widgets[0].HeadingWidget == nil || landing.Widgets[1].LinkWidget == nil || landing.Widgets[2].UnknownWidget == nil {
		t.Fatalf("%+v", landing.Widgets)
	}
	if landing.AdditionalProperties["of_a_newer_version"] == nil {
		t.Fatal("a field of a newer version is lost")
	}
}

func TestAResultOfAnAssignmentNamesTheKindOfEachLink(t *testing.T) {
	var result BulkAssignResult
	text := `{"object":"bulk_assign_result","assigned_count":3000000000,"failed_count":0,"assigned":[{"index":0,"data":` + page + `}],"failed":[]}`
	if err := json.Unmarshal([]byte(text), &result); err != nil {
		t.Fatal(err)
	}
	if result.Assigned[0].Data.Landing == nil || result.AssignedCount != 3000000000 {
		t.Fatalf("%+v", result)
	}
}
